/**
 * Returns the configuration of an nginx that sends each request to one of the gateways in turn. All
 * its files are in `folder`.
 */
export function nginxConfigText(
  port: number,
  gatewayPorts: readonly number[],
  folder: string,
): string {
  const servers = gatewayPorts.map((gateway) => `server 127.0.0.1:${gateway};`).join("\n    ");
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
    .map((name) => `${name}_temp_path ${folder}/${name};`).join("\n  ");
  return `
daemon off;
worker_processes 1;
pid ${folder}/nginx.pid;
error_log stderr error;
events {}
http {
  access_log off;
  keepalive_requests 1000000000;
  ${temporary}
  upstream gateways {
    ${servers}
    keepalive 64;
    keepalive_requests 1000000000;
  }
  server {
    listen 127.0.0.1:${port};
    location / {
      proxy_pass http://gateways;
      proxy_http_version 1.1;
      proxy_set_header Host $host;
      proxy_set_header Connection "";
      proxy_buffering off;
      proxy_request_buffering off;
    }
  }
}
`;
}
