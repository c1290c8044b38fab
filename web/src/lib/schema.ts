// What a knowledge base's schema may say, by engine.

/** How vectors may be indexed; the embedded engine always compares all. */
export const vectorIndexes: Record<string, string[]> = {
  elasticsearch: ['int8_hnsw', 'hnsw', 'int4_hnsw', 'bbq_hnsw', 'flat', 'int8_flat', 'none'],
  postgres: ['hnsw', 'half_hnsw', 'none'],
}

export const analyzers: Record<string, string[]> = {
  elasticsearch: ['jieba', 'standard', 'cjk', 'ik_max_word', 'ik_smart'],
}

/** The formulas of keyword search; Elasticsearch has Lucene's alone. */
export const formulas: Record<string, string[]> = {
  embedded: ['lucene', 'okapi'],
  postgres: ['lucene', 'okapi'],
}

/** The members that were filled in. */
export const given = <T extends object>(o: T) =>
  Object.fromEntries(Object.entries(o).filter(([, v]) => v !== undefined && v !== ''))
