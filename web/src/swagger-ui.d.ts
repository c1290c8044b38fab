declare module 'swagger-ui-dist/swagger-ui-es-bundle.js' {
  export default function SwaggerUI(options: Record<string, unknown>): void
}
declare module '*.css?url' {
  const address: string
  export default address
}
