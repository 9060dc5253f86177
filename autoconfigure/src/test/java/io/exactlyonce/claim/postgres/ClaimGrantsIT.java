package io.exactlyonce.claim.postgres;

import static io.exactlyonce.claim.postgres.TestDatabase.request;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.Completion;
import io.exactlyonce.claim.LeaseRenewal;
import io.exactlyonce.claim.Parking;
import io.exactlyonce.claim.Release;
import io.exactlyonce.primary.PrimaryPinnedDataSource;
import io.exactlyonce.primary.PrimaryProbe;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.boot.sql.init.DatabaseInitializationMode;
import org.springframework.dao.DataAccessException;

/** A database user with exactly the grants that docs/operations.md lists, and nothing else. */
class ClaimGrantsIT {

    private final TestDatabase database = new TestDatabase(1);
    private final String user =
            "shop_" + database.url().substring(database.url().lastIndexOf('_') + 1);
    private final PrimaryPinnedDataSource pool = new PrimaryPinnedDataSource(database.url(), user, "", 3);
    private final RecordedSweeps sweeps = new RecordedSweeps();

    @BeforeEach
    void grant() throws IOException {
        database.jdbc().execute("CREATE ROLE " + user + " LOGIN");
        database.jdbc().execute("REVOKE ALL ON SCHEMA public FROM PUBLIC");
        String section = Files.readString(Path.of("../docs/operations.md")).split("## Grants", 2)[1];
        String statements = section.split("```sql", 2)[1].split("```", 2)[0];
        assertThat(statements).contains("GRANT");
        database.jdbc().execute(statements.replace(" TO shop;", " TO " + user + ";"));
    }

    @AfterEach
    void close() {
        pool.close();
        database.jdbc().execute("DROP OWNED BY " + user);
        database.jdbc().execute("DROP ROLE " + user);
        database.close();
    }

    @Test
    void documentedGrantsAreEnough() throws Exception {
        new PrimaryProbe(pool).verify();
        new ClaimSchemaInitializer(pool, DatabaseInitializationMode.ALWAYS).initializeDatabase();
        new ClaimSchemaProbe(pool).verify();
        var store = new PostgresClaimStore(pool, 2, Duration.ofSeconds(0));
        List<ClaimRequest> claims =
                Stream.generate(TestDatabase::request).limit(3).toList();
        store.claim(claims);
        store.claim(List.of(request(claims.get(0).key())));
        store.renew(List.of(new LeaseRenewal(claims.get(0).id(), Duration.ofMinutes(1))));
        store.complete(List.of(new Completion(claims.get(0).id(), "1")));
        store.release(List.of(new Release(claims.get(1).id(), "failed", false)));
        store.claim(List.of(request(claims.get(1).key())));
        store.park(List.of(new Parking(claims.get(2).id(), "ask somebody", false)));

        retention().sweep();

        assertThat(sweeps.deleted()).isOne();
        assertThat(sweeps.failures).isZero();
    }

    @Test
    void withoutDeleteClaimsGoOnAndNothingIsDeleted() throws Exception {
        database.jdbc().execute("REVOKE DELETE ON exactly_once_claim FROM " + user);
        new ClaimSchemaProbe(pool).verify();
        var store = new PostgresClaimStore(pool, 2, Duration.ofSeconds(0));
        ClaimRequest claim = request();
        store.claim(List.of(claim));
        store.complete(List.of(new Completion(claim.id(), "1")));

        retention().sweep();

        assertThat(sweeps.failures).isOne();
        assertThat(store.claim(List.of(request(claim.key())))).hasSize(1);
    }

    @Test
    void withoutUpdateTheStartIsRefused() {
        database.jdbc().execute("REVOKE UPDATE ON exactly_once_claim FROM " + user);

        assertThatThrownBy(new ClaimSchemaProbe(pool)::verify).isInstanceOf(DataAccessException.class);
    }

    private ClaimRetention retention() {
        return new ClaimRetention(pool, 10, List.of(sweeps), System::nanoTime, length -> {});
    }
}
