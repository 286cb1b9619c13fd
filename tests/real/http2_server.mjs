#!/usr/bin/env node
// http2_server.mjs - node's HTTP/2 server, over TLS with KEY and CERT.
// Usage: http2_server.mjs KIND [KEY CERT]
// KIND is plain; limit (3 streams at a time); goaway (a GOAWAY with every 50th
// request); settings (the limit rises and falls between 2 and 50 every 20 ms)
// or reset (every tenth stream).
import fs from 'node:fs'
import http2 from 'node:http2'

const [kind, key, cert] = process.argv.slice(2)
let n = 0

function answer(stream) {
    n++
    stream.on('error', () => {})
    if (kind === 'goaway' && n % 50 === 0) stream.session.goaway(0, stream.id)
    if (kind === 'reset' && n % 10 === 0) {
        stream.close(http2.constants.NGHTTP2_INTERNAL_ERROR)
        return
    }
    stream.respond({ ':status': 200, 'content-type': 'text/plain' })
    stream.end('hello there')
}

function vary(session) {
    let few = false
    const timer = setInterval(() => {
        if (session.destroyed) return clearInterval(timer)
        few = !few
        session.settings({ maxConcurrentStreams: few ? 2 : 50 })
    }, 20)
}

const settings = { maxConcurrentStreams: kind === 'limit' ? 3 : 100 }
const server = key
    ? http2.createSecureServer({ key: fs.readFileSync(key), cert: fs.readFileSync(cert) })
    : http2.createServer({ settings })
server.on('stream', answer)
server.on('sessionError', () => {})
if (kind === 'settings') server.on('session', vary)
server.listen(0, '127.0.0.1', () =>
    console.log(`listening on http${key ? 's' : ''}://127.0.0.1:${server.address().port}`))
