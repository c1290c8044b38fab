import styles from 'swagger-ui-dist/swagger-ui.css?url'
import SwaggerUI from 'swagger-ui-dist/swagger-ui-es-bundle.js'

// A file of its own, which the one style file of the application does not grow by.
const link = document.createElement('link')
link.rel = 'stylesheet'
link.href = styles
document.head.append(link)

SwaggerUI({
  url: '/openapi.json',
  dom_id: '#docs',
  deepLinking: true,
  filter: true,
  docExpansion: 'list',
  defaultModelsExpandDepth: 0,
  tryItOutEnabled: true,
  validatorUrl: null,
})
