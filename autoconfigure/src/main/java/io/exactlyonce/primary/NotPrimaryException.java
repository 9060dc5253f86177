package io.exactlyonce.primary;

import java.sql.SQLException;

/** A connection led to a server that takes no writes: a replica, or one that is set to read-only. */
public final class NotPrimaryException extends SQLException {

    /** What PostgreSQL itself answers to a write in a read-only transaction. */
    static final String READ_ONLY_SQL_TRANSACTION = "25006";

    private final String server;
    private final String problem;
    private final boolean routed;

    private NotPrimaryException(String server, String observation, boolean routed, String remedy) {
        super("%s: %s".formatted(problem(server, observation), remedy), READ_ONLY_SQL_TRANSACTION);
        this.server = server;
        this.problem = problem(server, observation);
        this.routed = routed;
    }

    static NotPrimaryException refused(DatabaseServer server, String observation) {
        return new NotPrimaryException(
                server.address(),
                observation,
                false,
                "let claims reach the primary; a URL that names several hosts needs targetServerType=primary");
    }

    /** @param server the one that reads are sent to */
    static NotPrimaryException routed(DatabaseServer server, String observation) {
        return new NotPrimaryException(
                server.address(), observation, true, "let claims bypass whatever splits reads from writes");
    }

    private static String problem(String server, String observation) {
        return "Server %s cannot keep claims, because %s".formatted(server, observation);
    }

    /** Returns the message without its remedy. */
    String problem() {
        return problem;
    }

    /** Returns address and port of the server that was refused, by its own account. */
    public String server() {
        return server;
    }

    /** Returns whether something on the way sends some statements to this server, and some elsewhere. */
    public boolean isRouted() {
        return routed;
    }
}
