/* status_map.h - a status of HTTP and the code of gRPC that says most nearly
 * the same.  Codes are below 100, where HTTP has no statuses; each function
 * leaves what is in its own range as it is.  Pure. */
#ifndef SERVER_STUB_FRONT_STATUS_MAP_H
#define SERVER_STUB_FRONT_STATUS_MAP_H

int status_of_grpc(int status);
int status_of_http(int status);

#endif
