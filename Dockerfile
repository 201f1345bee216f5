# The service as an image: docs/operations/containers.md says how to run it.

FROM node:24-slim AS build
WORKDIR /build
COPY . .
RUN node scripts/build.mjs
RUN npm prune --omit=dev

FROM node:24-slim
ENV NODE_ENV=production HOST=0.0.0.0 PORT=8000
WORKDIR /app
COPY --from=build /build/package.json /build/LICENSE ./
COPY --from=build /build/node_modules ./node_modules
COPY --from=build /build/dist ./dist
# The user `node` of the base image. Kubernetes has to see a number to know that it is not root.
USER 1000:1000
EXPOSE 8000
HEALTHCHECK --interval=30s --timeout=6s --start-period=10s CMD ["node", "dist/cli.js", "health"]
ENTRYPOINT ["node", "dist/cli.js"]
CMD ["serve"]
