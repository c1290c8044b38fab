# The gateway as one static binary on a base that has just enough for its health check.
FROM node:22.21.1-bookworm-slim AS web
WORKDIR /src
COPY gateway/testdata/openapi.json gateway/testdata/
COPY web web
RUN cd web && npm ci && npm run build

FROM golang:1.26.8-bookworm AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
COPY --from=web /src/web/dist web/dist
ARG VERSION=unknown
RUN make build VERSION="$VERSION" && mkdir /data

FROM busybox:1.37.0-glibc
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
COPY --from=build --chown=65532:65532 /data /data
COPY --from=build /src/bin/hybridge /usr/local/bin/hybridge
USER 65532:65532
VOLUME /data
EXPOSE 8080
ENTRYPOINT ["hybridge"]
CMD ["serve", "--listen", "0.0.0.0:8080", "--data-dir", "/data"]
