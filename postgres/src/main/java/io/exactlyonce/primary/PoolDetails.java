package io.exactlyonce.primary;

import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The current connection details of a DataSource.
 *
 * @param type the simple name of the DataSource's class
 * @param credentials user and password
 * @param driver the driver's class, if the DataSource names one
 * @param settings settings for the driver
 * @param schema the schema of its connections, if the DataSource sets one
 * @param initSql the first statement of its connections, if there is one
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

    /** Where the password of a DataSource comes from. */
    enum Password {
        /** The pool has a password, which the application may change. */
        OWN,
        /** A credentials provider supplies the password, so it is always current. */
        PROVIDED,
        /** The DataSource has no getter for its password. */
        HIDDEN
    }

    record Login(@Nullable String username, @Nullable String secret, Password kind) {

        /** Leaves the secret out. */
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
