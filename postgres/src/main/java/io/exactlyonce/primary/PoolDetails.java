package io.exactlyonce.primary;

import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * How a DataSource connects to the database now.
 *
 * @param type the simple name of the DataSource's class
 * @param driver the driver's class, if the DataSource has a setting for it
 * @param settings settings for the driver
 * @param schema the schema of new connections, if the DataSource sets one
 * @param initSql the first statement of new connections, if the DataSource has one
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

    /** The source of a DataSource's password. */
    enum Password {
        /** The password is a setting of the pool. The application may change the setting. */
        OWN,
        /** A credentials provider returns the password, so the password is always current. */
        PROVIDED,
        /** The DataSource has no getter for its password. */
        HIDDEN
    }

    record Login(@Nullable String username, @Nullable String secret, Password kind) {

        /** Returns a text without the password. */
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

    /**
     * Returns these details with another user and password. A pool around a DataSource may log in with a user of its
     * own. If it has none, the details are returned unchanged.
     *
     * @param outer user and password of the pool around
     */
    PoolDetails as(Login outer) {
        return outer.username() == null ? this : new PoolDetails(type, url, outer, driver, settings, schema, initSql);
    }

    ClaimPool.Target target(String setting, String origin) {
        return new ClaimPool.Target(
                setting, url, credentials.username(), credentials.secret(), origin, driver, settings, schema, initSql);
    }
}
