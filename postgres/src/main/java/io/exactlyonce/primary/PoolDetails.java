package io.exactlyonce.primary;

import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The connection details of a DataSource, as they are now.
 *
 * @param type simple name of its class
 * @param credentials user and password
 * @param driver class of its driver, if it names one
 * @param settings for the driver
 * @param schema of its connections, if it sets one
 * @param initSql first statement of its connections, if it has one
 */
record PoolDetails(
        String type,
        String url,
        Login credentials,
        @Nullable String driver,
        Map<String, String> settings,
        @Nullable String schema,
        @Nullable String initSql) {

    static final String PROVIDER = "the HikariCredentialsProvider of ";

    /** The origin of a DataSource's password. */
    enum Password {
        /** The pool has a password, which the application may change. */
        OWN,
        /** A credentials provider supplies the password, so it is always current. */
        PROVIDED,
        /** Without a getter. */
        HIDDEN
    }

    /** User and password. */
    record Login(@Nullable String username, @Nullable String secret, Password kind) {

        /** Without the secret. */
        @Override
        public String toString() {
            return "user %s, %s".formatted(username, kind);
        }
    }

    boolean isProvided() {
        return credentials.kind() == Password.PROVIDED;
    }

    boolean isPasswordHidden() {
        return credentials.kind() == Password.HIDDEN;
    }

    /** Returns these details with the credentials of an outer pool that has a user. */
    PoolDetails as(Login outer) {
        return outer.username() == null ? this : new PoolDetails(type, url, outer, driver, settings, schema, initSql);
    }

    ClaimPool.Target target(String setting, String origin) {
        return new ClaimPool.Target(
                setting, url, credentials.username(), credentials.secret(), origin, driver, settings, schema, initSql);
    }
}
