package io.exactlyonce.primary;

/**
 * The server that answered, by its own account: behind a proxy or a balancer this is not what the JDBC URL names.
 *
 * @param address address and port, or {@code local socket}
 * @param version its {@code server_version}
 * @param database the connection's database
 * @param startedAt when the server started, in seconds since 1970: two servers that share an address differ in it
 */
public record DatabaseServer(String address, String version, String database, String startedAt) {

    public boolean isSameServerAs(DatabaseServer other) {
        return address.equals(other.address) && startedAt.equals(other.startedAt);
    }
}
