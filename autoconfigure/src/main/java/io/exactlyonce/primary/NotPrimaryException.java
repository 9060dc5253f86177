package io.exactlyonce.primary;

import java.sql.SQLException;

/** A connection led to a server that takes no writes: a replica, or one that is set to read-only. */
public final class NotPrimaryException extends SQLException {

    /** What PostgreSQL itself answers to a write in a read-only transaction. */
    static final String READ_ONLY_SQL_TRANSACTION = "25006";

    /** What to do about it. */
    static final String REMEDY = "point spring.datasource.url at the primary; a URL that names several hosts "
            + "needs targetServerType=primary";

    private final String server;

    NotPrimaryException(String server, String observation) {
        super(
                "Server %s cannot keep claims, because %s: %s".formatted(server, observation, REMEDY),
                READ_ONLY_SQL_TRANSACTION);
        this.server = server;
    }

    /** Returns address and port of the server that was refused, by its own account. */
    public String server() {
        return server;
    }
}
