package io.exactlyonce.primary;

import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** There is no connection to a primary, so no claim can be kept. */
public final class PrimaryUnavailableException extends RuntimeException {

    /** Why there is none. */
    public enum Reason {
        /** The server did not answer, or refused the connection. */
        UNREACHABLE,
        /** The server answered, but it is a replica or read-only. */
        NOT_PRIMARY
    }

    private final Reason reason;
    private final String url;
    private final @Nullable String server;
    private final String problem;
    private final String remedy;

    private PrimaryUnavailableException(
            Reason reason, JdbcUrl url, @Nullable String server, String problem, String remedy, Throwable cause) {
        super(problem + ": " + remedy, cause);
        this.reason = reason;
        this.url = url.withoutSecrets();
        this.server = server;
        this.problem = problem;
        this.remedy = remedy;
    }

    static PrimaryUnavailableException unreachable(JdbcUrl url, String observation, Throwable cause) {
        return new PrimaryUnavailableException(
                Reason.UNREACHABLE,
                url,
                null,
                "No connection to %s for claims (%s)".formatted(url, observation),
                "check that the database is up and that spring.datasource.url, .username and .password are right",
                cause);
    }

    static PrimaryUnavailableException notPrimary(JdbcUrl url, NotPrimaryException cause) {
        return new PrimaryUnavailableException(
                Reason.NOT_PRIMARY,
                url,
                cause.server(),
                "%s leads to server %s, which is a replica or read-only".formatted(url, cause.server()),
                NotPrimaryException.REMEDY,
                cause);
    }

    /** Returns why there is no connection. */
    public Reason reason() {
        return reason;
    }

    /** Returns the JDBC URL that was tried, without credentials and parameters. */
    public String url() {
        return url;
    }

    /** Returns address and port of the server that answered, by its own account; empty if none did. */
    public Optional<String> server() {
        return Optional.ofNullable(server);
    }

    /** Returns what was observed. */
    public String problem() {
        return problem;
    }

    /** Returns what to do about it. */
    public String remedy() {
        return remedy;
    }
}
