# An image with the program palaver, which includes the page: one static binary on an
# empty base image. --target ocr builds the image for workers, which also has tesseract.
#
#   docker build -t palaver --build-arg VERSION=$(git describe --tags --always) --build-arg COMMIT=$(git rev-parse HEAD) --build-arg DATE=$(date -u +%FT%TZ) .

FROM node:24.21.0-bookworm-slim@sha256:0e0ff40c39bc087845bfb27465a0df4ea419520094bc35842ff83dd8cbe6f9b6 AS page
WORKDIR /src/web
COPY web/package.json web/package-lock.json ./
RUN npm ci --no-audit --no-fund
COPY web/ ./
COPY clients/typescript/src /src/clients/typescript/src
RUN npm run build

FROM golang:1.26.8-bookworm@sha256:a688600ca24f8a4d3ca77f95b0dd40704a9fc787c826660eb7ba0b641b8b175d AS binary
ENV CGO_ENABLED=0 GOTOOLCHAIN=local
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
COPY --from=page /src/web/dist web/dist
ARG VERSION COMMIT DATE
RUN go build -trimpath -ldflags="-s -w -X github.com/palaver-chat/palaver/internal/build.version=$VERSION -X github.com/palaver-chat/palaver/internal/build.commit=$COMMIT -X github.com/palaver-chat/palaver/internal/build.date=$DATE" -o /palaver ./cmd/palaver \
 && mkdir /folders && mkdir -m 700 /folders/data /folders/tmp

# Debian with tesseract: workers read scanned pages with it. Node stays unused; the image is
# the one that is pinned above.
FROM node:24.21.0-bookworm-slim@sha256:0e0ff40c39bc087845bfb27465a0df4ea419520094bc35842ff83dd8cbe6f9b6 AS ocr
# Languages, as tesseract names them: "eng deu fra".
ARG OCR_PACKAGES="eng deu fra spa"
RUN apt-get update -qq \
 && apt-get install -y -qq --no-install-recommends tesseract-ocr $(printf 'tesseract-ocr-%s ' $OCR_PACKAGES | tr _ -) \
 && rm -rf /var/lib/apt/lists/* /usr/local/bin /usr/local/include /usr/local/lib /opt
COPY --from=binary /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/
COPY --from=binary /palaver /palaver
COPY --from=binary --chown=65532:65532 /folders/data /data
USER 65532:65532
ENV PALAVER_DATA_DIR=/data
ENTRYPOINT ["/palaver"]
CMD ["worker"]

FROM scratch
# The root certificates, for TLS connections to models, Temporal, Postgres and the web.
COPY --from=binary /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/
COPY --from=binary /palaver /palaver
# The user below owns /data and /tmp (for uploads). A new volume at /data gets this owner and
# mode. The parent folder is copied, because COPY does not keep the mode of the folder that
# it is given.
COPY --from=binary --chown=65532:65532 /folders /
USER 65532:65532
ENV HOST=0.0.0.0 PALAVER_DATA_DIR=/data
EXPOSE 8080
ENTRYPOINT ["/palaver"]
CMD ["serve"]
