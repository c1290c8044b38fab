// Names of the languages that questions and chunks are in, by their ISO 639-1 codes.

/** The tag of a language of the page, for the browser: lang, dates and numbers. */
export const localeOf = (language: 'en' | 'zh') => (language === 'zh' ? 'zh-CN' : 'en')

/** Those that a question is offered to be in. */
export const languages = ['en', 'zh', 'ar', 'de', 'es', 'fr', 'it', 'ja', 'ko', 'pt', 'ru']

/** The name of a language in the reader's. */
export function languageName(code: string, reader: string): string {
  try {
    return new Intl.DisplayNames([reader], { type: 'language' }).of(code) ?? code
  } catch {
    return code // an address may say anything
  }
}
