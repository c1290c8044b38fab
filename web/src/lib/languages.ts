// Names of the languages that questions and chunks are in, by their ISO 639-1 codes.

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
