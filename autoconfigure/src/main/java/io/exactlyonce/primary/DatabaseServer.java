package io.exactlyonce.primary;

/**
 * The server that answered, by its own account: behind a proxy or a balancer this is not what the JDBC URL names.
 *
 * @param address address and port, or {@code local socket}
 * @param version its {@code server_version}
 */
public record DatabaseServer(String address, String version) {}
