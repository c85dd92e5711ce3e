# docker build -t wireglot . && docker run -p 8080:8080 -e KEY -e CLIENT wireglot \
#     --to deepseek --key-env KEY --client-key-env CLIENT
FROM python:3.13-slim AS build
WORKDIR /src
COPY . .
RUN pip install --no-cache-dir build && python -m build --wheel

FROM python:3.13-slim
COPY --from=build /src/dist /dist
RUN pip install --no-cache-dir "$(echo /dist/*.whl)[serve]" && rm -r /dist && useradd wireglot
USER wireglot
EXPOSE 8080
ENTRYPOINT ["wireglot", "serve", "--host", "0.0.0.0"]
