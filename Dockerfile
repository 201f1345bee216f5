# The service as an image: docs/how-to/deploy.md says how to run it.

# Pinned by the digest of its index for all platforms; Dependabot proposes the next one each week.
FROM node:24.18.0-bookworm-slim@sha256:6f7b03f7c2c8e2e784dcf9295400527b9b1270fd37b7e9a7285cf83b6951452d AS build
WORKDIR /build
# Before the sources, so that a change of these alone installs nothing again.
COPY package.json package-lock.json .npmrc ./
RUN npm ci --include=dev --ignore-scripts
COPY . .
RUN node scripts/build.mjs
RUN npm prune --omit=dev

FROM node:24.18.0-bookworm-slim@sha256:6f7b03f7c2c8e2e784dcf9295400527b9b1270fd37b7e9a7285cf83b6951452d
ENV NODE_ENV=production HOST=0.0.0.0 PORT=8000
WORKDIR /app
COPY --from=build /build/package.json /build/LICENSE /build/SECURITY.md ./
COPY --from=build /build/node_modules ./node_modules
COPY --from=build /build/dist ./dist
COPY --from=build /build/docs ./docs
# The user `node` of the base image. Kubernetes has to see a number to know that it is not root.
USER 1000:1000
EXPOSE 8000
# Not `fetch`, which takes twice the memory.
HEALTHCHECK --interval=30s --timeout=6s --start-period=10s CMD ["node", "-e", "http.get(`http://127.0.0.1:${process.env.PORT}/api/v1/health`, ({ statusCode }) => process.exit(statusCode === 200 ? 0 : 1))"]
# The flags of V8 shorten the longest waits (docs/reference/reliability.md).
ENTRYPOINT ["node", "--v8-pool-size=1", "--initial-old-space-size=64", "dist/cli.js"]
CMD ["serve"]
