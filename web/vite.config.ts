import { defineConfig } from 'vite'

// The built files are embedded in the binary. Nothing is inlined: the gateway's
// Content-Security-Policy allows neither inline scripts nor data: scripts.
// Styles are one file: those of a page that failed to load would not be asked for again.
// docs.html is by itself: what shows the API is larger than the application.
// What the first page loads and others too is one file: parts of it would not compress as well.
const shared = /node_modules\/(react|react-dom|scheduler|@tanstack|use-sync-external-store|@ariakit\/(utils|store|react-utils|react-store|(react-)?components\/dist\/(__chunks|collection|combobox|command|composite|disclosure|focusable|role)))\/|web\/src\/(lib\/(api|bases|format|i18n|load|marked|readable|url)|components\/(field|icons|link|notice|term))\./

export default defineConfig({
  build: { assetsInlineLimit: 0, cssCodeSplit: false, modulePreload: { polyfill: false }, target: 'es2022', chunkSizeWarningLimit: 1800,
    rollupOptions: { output: { codeSplitting: { groups: [{ name: 'shared', test: shared }] } }, input: ['index.html', 'docs.html'], checks: { pluginTimings: false }, onwarn: (w, warn) => void (w.code === 'MODULE_LEVEL_DIRECTIVE' || warn(w)) } },
  server: { proxy: { '/v1': process.env.HYBRIDGE_URL ?? 'http://127.0.0.1:8080' } },
})
