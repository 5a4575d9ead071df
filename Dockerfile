# The image: docker build -t ipvs-proxier:0.1.0 .
# What is installed is listed in deploy/image/packages; hack/image/build.ts lays out /opt/ipvs-proxier. hack/image-test.sh makes the
# same root file system without a container engine, and tries it.
ARG DEBIAN=bookworm

FROM node:22-${DEBIAN}-slim AS build
RUN apt-get -q update && apt-get -q -y install --no-install-recommends libatomic1
WORKDIR /source
COPY package.json package-lock.json .npmrc ./
# The runtime comes with the packages: npm may be set up to run no install scripts, and that of `node` brings it.
RUN npm ci --loglevel=error && { [ -x node_modules/node/bin/node ] || npm rebuild --foreground-scripts node; }
COPY . .
RUN node_modules/.bin/node hack/image/build.ts /out

FROM debian:${DEBIAN}-slim AS root
COPY deploy/image/packages /tmp/packages
RUN apt-get -q update && \
    DEBIAN_FRONTEND=noninteractive xargs -a /tmp/packages apt-get -q -y install --no-install-recommends && \
    rm -rf /var/lib/apt/lists/* /var/cache/apt/* /var/log/* /tmp/packages

FROM build AS sbom
COPY --from=root /var/lib/dpkg/status /dpkg-status
RUN node_modules/.bin/node hack/image/sbom.ts --dpkg /dpkg-status >/sbom.cdx.json

FROM root
COPY --from=build /out/ /
COPY --from=sbom /sbom.cdx.json /opt/ipvs-proxier/
ENV PATH=/opt/ipvs-proxier/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
LABEL org.opencontainers.image.title=ipvs-proxier \
      org.opencontainers.image.version=0.1.0 \
      org.opencontainers.image.licenses=Apache-2.0
ENTRYPOINT ["/opt/ipvs-proxier/bin/ipvs-proxier"]
