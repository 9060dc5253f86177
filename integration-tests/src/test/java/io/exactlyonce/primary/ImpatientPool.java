package io.exactlyonce.primary;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.time.Duration;
import javax.sql.DataSource;

/** Pools with short timeouts, because tests of failures would be long with the usual ones. */
public final class ImpatientPool {

    private static final Duration TIMEOUT = Duration.ofSeconds(1);

    private ImpatientPool() {}

    static ClaimPool of(String url) {
        return of(target(url, null, null));
    }

    public static ClaimPool of(ClaimPool.Target target) {
        ClaimPool pool = new ClaimPool(target, 2, ClaimPool.TIMEOUT);
        pool.own().orElseThrow().setConnectionTimeout(TIMEOUT.toMillis());
        return pool;
    }

    public static ClaimPool of(ClaimPool.Target target, DataSource driver) {
        return new ClaimPool(target, driver, 2, TIMEOUT);
    }

    /** The application's database. */
    static ClaimPool.Target target(String url, String username, String password) {
        return new ClaimPool.Target("spring.datasource.url", url, username, password);
    }

    /** Returns the reason for which the startup check refuses a pool. */
    static ClaimDatabaseException refusalOf(ClaimPool pool) {
        ClaimDatabaseException refusal =
                catchThrowableOfType(ClaimDatabaseException.class, () -> new PrimaryCheck(pool).verify());
        assertThat(refusal).as("refusal").isNotNull();
        return refusal;
    }
}
