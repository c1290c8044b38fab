/** Where the gateway tells and changes what is about a knowledge base's index. */
export const pathOf = (kb: string, what: string) => `/v1/mappings/${encodeURIComponent(kb)}/${what}`
