package io.exactlyonce.claim.postgres;

import static io.exactlyonce.claim.postgres.schema.TestDatabase.request;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimOutcome.Acquired;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.ClaimResolution;
import io.exactlyonce.claim.KeyState;
import io.exactlyonce.claim.LeaseRenewal;
import io.exactlyonce.claim.postgres.schema.TestDatabase;
import io.exactlyonce.claim.postgres.schema.TestDatabase.Layout;
import io.exactlyonce.claim.postgres.transaction.TransactionCheck;
import io.exactlyonce.postgres.SynchronousCommit;
import io.exactlyonce.primary.ClaimDatabaseException;
import io.exactlyonce.primary.ClaimPool;
import io.exactlyonce.primary.PrimaryCheck;
import io.exactlyonce.primary.ReplicaMonitor;
import io.exactlyonce.testing.EmbeddedDatabase;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.postgresql.ds.PGSimpleDataSource;
import org.springframework.beans.factory.support.StaticListableBeanFactory;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.interceptor.DefaultTransactionAttribute;
import org.springframework.transaction.support.TransactionTemplate;

/** A database user with exactly the grants in docs/postgresql.md, or with one of them missing. */
@ExtendWith(OutputCaptureExtension.class)
@ParameterizedClass
@EnumSource
class ClaimGrantsIT {

    private static final Pattern GRANT = Pattern.compile("GRANT ([A-Z, ]+) ON (.+) TO shop;");

    private final TestDatabase database;
    private final String user;
    private final ClaimPool pool;
    private final PostgresClaimStore store;
    private final RecordedSweeps sweeps = new RecordedSweeps();

    ClaimGrantsIT(Layout layout) {
        database = new TestDatabase(1, layout);
        user = "shop_" + database.url().substring(database.url().lastIndexOf('_') + 1);
        pool = new ClaimPool(
                new ClaimPool.Target(
                        "spring.datasource.url",
                        database.url(),
                        user,
                        EmbeddedDatabase.shared().password()),
                3,
                Duration.ofSeconds(3));
        store = new PostgresClaimStore(new ClaimTable(pool.dataSource(), Duration.ofSeconds(0), SynchronousCommit.ON));
    }

    /** Returns the statements of the documentation. */
    private static String documented() throws IOException {
        String section = Files.readString(Path.of("../docs/postgresql.md")).split("## Grants", 2)[1];
        return section.split("```sql", 2)[1].split("```", 2)[0];
    }

    @BeforeEach
    void grant() throws IOException {
        database.jdbc()
                .execute("CREATE ROLE %s LOGIN PASSWORD '%s'"
                        .formatted(user, EmbeddedDatabase.shared().password()));
        database.jdbc().execute("REVOKE ALL ON SCHEMA public FROM PUBLIC");
        database.jdbc().execute(documented().replace(" TO shop;", " TO " + user + ";"));
    }

    @AfterEach
    void close() {
        pool.close();
        database.jdbc().execute("DROP OWNED BY " + user);
        database.jdbc().execute("DROP ROLE " + user);
        database.close();
    }

    @Test
    void documentedGrantsAreEnough(CapturedOutput output) throws Throwable {
        new ClaimSchema(TestDatabase.table(pool.dataSource())).create();

        useEverything();
        lookAtReplicas();

        assertThat(output).doesNotContain("cannot be read");
    }

    /** One statement for each privilege of the documentation. */
    static List<String> revocations() throws IOException {
        List<String> revocations = GRANT.matcher(documented())
                .results()
                .flatMap(grant -> Arrays.stream(grant.group(1).split(", "))
                        .map(privilege -> "REVOKE %s ON %s".formatted(privilege, grant.group(2))))
                .toList();
        assertThat(revocations).hasSize(documented().split("[,;]").length - 1);
        return revocations;
    }

    @ParameterizedTest
    @MethodSource("revocations")
    void noneOfThemIsSuperfluous(String revocation) {
        database.jdbc().execute(revocation + " FROM " + user);

        assertThatThrownBy(this::useEverything)
                .isInstanceOfAny(DataAccessException.class, ClaimDatabaseException.class, AssertionError.class)
                .matches(
                        failure -> !(failure instanceof ClaimDatabaseException schema)
                                || schema.problem().contains(" is missing from "),
                        "tells of the table only that it is missing");
    }

    @Test
    void withoutDeleteClaimsContinueAndNothingIsDeleted(CapturedOutput output) throws Exception {
        database.jdbc().execute("REVOKE DELETE ON exactly_once_claim FROM " + user);
        new ClaimSchema(TestDatabase.table(pool.dataSource())).verify();
        ClaimRequest claim = request();
        store.claim(List.of(claim));
        store.resolve(List.of(new ClaimResolution.Completed(claim.id(), "1")));

        retention().sweep();

        assertThat(sweeps.failures).isOne();
        assertThat(output).contains("GRANT DELETE ON exactly_once_claim TO the database user");
        assertThat(store.claim(List.of(request(claim.key())))).hasSize(1);
    }

    private void useEverything() throws Throwable {
        new PrimaryCheck(pool).verify();
        new ClaimSchema(TestDatabase.table(pool.dataSource())).verify();
        List<ClaimRequest> claims =
                Stream.generate(TestDatabase::request).limit(3).toList();
        List<ClaimKey> keys = claims.stream().map(ClaimRequest::key).toList();
        store.claim(claims);
        store.claim(List.of(request(keys.get(0))));
        store.renew(List.of(new LeaseRenewal(claims.get(0).id(), Duration.ofMinutes(1))));
        fence(claims.get(0).id());
        store.resolve(List.of(new ClaimResolution.Completed(claims.get(0).id(), "1")));
        store.resolve(List.of(new ClaimResolution.Released(claims.get(1).id(), "failed", false)));
        store.claim(List.of(request(keys.get(1))));
        store.resolve(List.of(new ClaimResolution.Parked(claims.get(2).id(), "to be decided", false)));
        assertThat(store.peek(keys)).containsEntry(keys.get(2), KeyState.PARKED);
        decide(claims.get(2).id());
        handleWithinATransaction();

        retention().sweep();

        assertThat(sweeps.deleted()).isPositive();
        assertThat(sweeps.failures).isZero();
    }

    private void fence(ClaimId claim) {
        var application = new TransactionTemplate(new JdbcTransactionManager(application()));

        assertThat(application.<Boolean>execute(status -> store.fence(claim))).isTrue();
    }

    private void decide(ClaimId claim) {
        var parked = new PostgresParkedClaims(
                new ClaimTable(pool.dataSource(), Duration.ofSeconds(0), SynchronousCommit.ON));
        assertThat(parked.list(null, 10)).hasSize(1);
        assertThat(parked.find(claim.key())).isPresent();
        assertThat(parked.complete(new ClaimResolution.Completed(claim, "1"))).isTrue();
    }

    private void handleWithinATransaction() throws Throwable {
        var transaction = new TransactionCheck(
                        TestDatabase.table(pool.dataSource()), new StaticListableBeanFactory(), false)
                .create(new JdbcTransactionManager(application()), new DefaultTransactionAttribute(), true);

        assertThat(transaction.execute(request(), claim -> "1")).isInstanceOf(Acquired.class);
    }

    private void lookAtReplicas() {
        new ReplicaMonitor(pool, SynchronousCommit.ON, List.of()).tick();
    }

    private PGSimpleDataSource application() {
        var dataSource = new PGSimpleDataSource();
        dataSource.setUrl(database.url());
        dataSource.setUser(user);
        dataSource.setPassword(EmbeddedDatabase.shared().password());
        return dataSource;
    }

    private Retention retention() {
        return new Retention(
                TestDatabase.table(pool.dataSource()), 10, List.of(sweeps), System::nanoTime, length -> {});
    }
}
