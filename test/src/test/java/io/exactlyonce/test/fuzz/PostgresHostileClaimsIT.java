package io.exactlyonce.test.fuzz;

import io.exactlyonce.test.PostgresServer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Hostile keys, results and errors in PostgreSQL. */
@Tag("postgres")
class PostgresHostileClaimsIT {

    private static final PostgresServer SERVER = PostgresServer.shared();

    @Test
    void everyKeyIsItsOwnAndEveryResultComesBack() {
        Fuzz.check(40, HostileClaims::any, runs -> HostileClaims.check(SERVER.store(), SERVER.parked(), runs));
    }
}
