package io.exactlyonce.primary;

import java.time.Duration;
import javax.sql.DataSource;

/** Pools that give up soon: with their usual patience, tests of failures would be long. */
public final class ImpatientPool {

    private static final Duration CONNECTION_TIMEOUT = Duration.ofSeconds(1);

    private ImpatientPool() {}

    static PrimaryPinnedDataSource of(String url) {
        return of(new ConnectionTarget(ConnectionTarget.Source.APPLICATION, url, null, null));
    }

    public static PrimaryPinnedDataSource of(ConnectionTarget target) {
        return of(target, DriverSettings.of(target, PrimaryPinnedDataSource.CONNECTION_TIMEOUT));
    }

    public static PrimaryPinnedDataSource of(ConnectionTarget target, DataSource driver) {
        return new PrimaryPinnedDataSource(target, driver, 2, CONNECTION_TIMEOUT, SynchronousCommit.ON);
    }
}
