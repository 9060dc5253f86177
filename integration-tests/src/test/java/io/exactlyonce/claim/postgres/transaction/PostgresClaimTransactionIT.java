package io.exactlyonce.claim.postgres.transaction;

import static io.exactlyonce.claim.postgres.schema.TestDatabase.request;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.awaitility.Awaitility.await;

import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.claim.ClaimOutcome.Acquired;
import io.exactlyonce.claim.ClaimOutcome.AlreadyCompleted;
import io.exactlyonce.claim.ClaimOutcome.HeldElsewhere;
import io.exactlyonce.claim.ClaimOutcome.Parked;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.ClaimRequest.InDoubt;
import io.exactlyonce.claim.ClaimResolution;
import io.exactlyonce.claim.ClaimStoreUnavailableException;
import io.exactlyonce.claim.postgres.ClaimTable;
import io.exactlyonce.claim.postgres.CommitLosingDataSource;
import io.exactlyonce.claim.postgres.PostgresClaimStore;
import io.exactlyonce.claim.postgres.schema.TestDatabase;
import io.exactlyonce.claim.postgres.transaction.ApplicationTransactions.Seen;
import io.exactlyonce.claim.transaction.ClaimTransaction;
import io.exactlyonce.claim.transaction.ClaimTransaction.Work;
import io.exactlyonce.claim.transaction.ClaimTransactionException;
import io.exactlyonce.postgres.SynchronousCommit;
import io.exactlyonce.testing.EmbeddedDatabase;
import java.io.IOException;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.postgresql.ds.PGSimpleDataSource;
import org.postgresql.jdbc.AutoSave;
import org.postgresql.jdbc.PreferQueryMode;
import org.springframework.beans.factory.support.StaticListableBeanFactory;
import org.springframework.dao.DataIntegrityViolationException;
import org.springframework.jdbc.core.ConnectionCallback;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.SingleConnectionDataSource;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionSystemException;
import org.springframework.transaction.interceptor.DefaultTransactionAttribute;
import org.springframework.transaction.support.DefaultTransactionStatus;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

/** Claim, work and completion in one transaction. Whatever fails, all of them are committed or none. */
@Tag("postgres")
class PostgresClaimTransactionIT {

    private static final int CONNECTIONS = 4;
    private static final TestDatabase DATABASE = new TestDatabase(CONNECTIONS);
    private static final Work NOT_TO_BE_CALLED = claim -> {
        throw new AssertionError("the work was called");
    };

    static {
        DATABASE.jdbc().execute("CREATE TABLE charge (id text, CHECK (id <> 'invalid'))");
        DATABASE.jdbc().execute("CREATE TABLE sale (id text PRIMARY KEY)");
        DATABASE.jdbc().execute("CREATE TABLE receipt (id text REFERENCES sale DEFERRABLE INITIALLY DEFERRED)");
    }

    private final JdbcTransactionManager manager = new JdbcTransactionManager(DATABASE.application());
    private final ClaimTransaction transaction = new TransactionCheck(
                    DATABASE.table(), new StaticListableBeanFactory(), false)
            .create(manager, new DefaultTransactionAttribute(), true);
    private final PostgresClaimStore external = DATABASE.store();
    private final ClaimRequest request = request();
    private final ClaimKey key = request.key();

    @AfterAll
    static void close() {
        DATABASE.close();
    }

    private Work charging(String result) {
        return claim -> {
            charge();
            return result;
        };
    }

    private void charge() {
        DATABASE.jdbc().update("INSERT INTO charge VALUES (?)", key.key());
    }

    private int charges() {
        return DATABASE.jdbc()
                .queryForList("SELECT id FROM charge WHERE id = ?", key.key())
                .size();
    }

    private boolean hasRow() {
        return !DATABASE.jdbc()
                .queryForList("SELECT 1 FROM exactly_once_claim WHERE key = ?", key.key())
                .isEmpty();
    }

    private static PostgresClaimTransaction over(PlatformTransactionManager transactions, DataSource dataSource) {
        return new PostgresClaimTransaction(
                new ApplicationTransactions(
                        transactions,
                        new DefaultTransactionAttribute(),
                        dataSource,
                        Seen.in(new JdbcTemplate(dataSource), DATABASE.table())),
                DATABASE.table());
    }

    /** Returns a request that parks the key in doubt. */
    private ClaimRequest cautious() {
        return new ClaimRequest(new ClaimId(key, UUID.randomUUID()), "worker", request.lease(), InDoubt.PARK, null);
    }

    private ClaimOutcome again(Work work) throws Throwable {
        return transaction.execute(request(key), work);
    }

    private void assertNothingHappened() throws Throwable {
        assertThat(charges()).isZero();
        assertThat(hasRow()).isFalse();
        assertThat(again(charging("1"))).isInstanceOf(Acquired.class);
        assertThat(charges()).isEqualTo(1);
    }

    /** Only the lookup of earlier claims and the completion disable scans. */
    @ParameterizedTest
    @CsvSource({"on, 1", "off, 1", "on, 3", "off, 3"})
    void statementsOfTheApplicationArePlannedAsItConfigures(String asked, int keys) throws Throwable {
        transaction.execute(request, claim -> null);
        List<ClaimRequest> requests = keys == 1 ? List.of(request()) : List.of(request(key), request(), request());
        var jdbc = new JdbcTemplate(DATABASE.application());
        List<String> seen = new ArrayList<>();
        transaction.execute(requests, claimed -> {
            seen.add(jdbc.queryForObject("SHOW enable_seqscan", String.class));
            jdbc.execute("SET LOCAL enable_seqscan = " + asked);
            TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {
                @Override
                public void beforeCommit(boolean readOnly) {
                    seen.add(jdbc.queryForObject("SHOW enable_seqscan", String.class));
                }
            });
            return Map.of();
        });

        assertThat(seen).containsExactly("on", asked);
    }

    /** A deferred trigger runs in the commit, which is sent with the completion. */
    @Test
    void triggerThatRunsInTheCommitIsPlannedAsTheApplicationConfigures() throws Throwable {
        JdbcTemplate setUp = DATABASE.jdbc();
        setUp.execute("CREATE TABLE seen (setting text)");
        setUp.execute("CREATE FUNCTION look() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
                + " INSERT INTO seen VALUES (current_setting('enable_seqscan')); RETURN NULL; END $$");
        setUp.execute("CREATE TABLE watched (id text)");
        setUp.execute("CREATE CONSTRAINT TRIGGER looking AFTER INSERT ON watched DEFERRABLE INITIALLY DEFERRED"
                + " FOR EACH ROW EXECUTE FUNCTION look()");

        transaction.execute(request, claim -> {
            new JdbcTemplate(DATABASE.application()).update("INSERT INTO watched VALUES ('a')");
            return null;
        });

        assertThat(setUp.queryForList("SELECT setting FROM seen", String.class)).containsExactly("on");
    }

    /** A trigger reads the setting at the commit, even if the manager commits. */
    @ParameterizedTest
    @CsvSource({"off, on", "local, on", "on, on", "remote_apply, remote_apply"})
    void commitWaitsForAsMuchAsClaimsDoAndAsTheApplicationConfigures(String application, String effective)
            throws Throwable {
        JdbcTemplate setUp = DATABASE.jdbc();
        setUp.execute("CREATE TABLE IF NOT EXISTS durability (setting text)");
        setUp.execute("CREATE TABLE IF NOT EXISTS durable (id text)");
        setUp.execute("CREATE OR REPLACE FUNCTION note_durability() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
                + " INSERT INTO durability VALUES (current_setting('synchronous_commit')); RETURN NULL; END $$");
        setUp.execute("DROP TRIGGER IF EXISTS noting ON durable");
        setUp.execute("CREATE CONSTRAINT TRIGGER noting AFTER INSERT ON durable DEFERRABLE INITIALLY DEFERRED"
                + " FOR EACH ROW EXECUTE FUNCTION note_durability()");
        setUp.execute("TRUNCATE durability");
        String database = setUp.queryForObject("SELECT current_database()", String.class);
        setUp.execute("ALTER DATABASE %s SET synchronous_commit = %s".formatted(database, application));
        var jdbc = new JdbcTemplate(DATABASE.application());
        try {
            transaction.execute(request, claim -> {
                jdbc.update("INSERT INTO durable VALUES ('alone')");
                return null;
            });
            transaction.execute(List.of(request(), request()), claimed -> {
                jdbc.update("INSERT INTO durable VALUES ('together')");
                return Map.of();
            });
        } finally {
            setUp.execute("ALTER DATABASE %s RESET synchronous_commit".formatted(database));
        }
        assertThat(setUp.queryForList("SELECT setting FROM durability", String.class))
                .containsExactly(effective, effective);
    }

    /** The message may be on its last receive. If a crash lost the decision, the message would not be redelivered. */
    @Test
    void commitOfAParkingWaitsForAsMuchAsClaimsDo() throws Throwable {
        external.claim(List.of(request));
        DATABASE.endLease(request.id());
        JdbcTemplate setUp = DATABASE.jdbc();
        setUp.execute("CREATE TABLE parking (setting text)");
        setUp.execute("CREATE FUNCTION note_parking() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
                + " INSERT INTO parking VALUES (current_setting('synchronous_commit')); RETURN NULL; END $$");
        setUp.execute(
                "CREATE CONSTRAINT TRIGGER parking AFTER UPDATE ON exactly_once_claim DEFERRABLE INITIALLY DEFERRED"
                        + " FOR EACH ROW WHEN (NEW.status = 'PARKED') EXECUTE FUNCTION note_parking()");
        String database = setUp.queryForObject("SELECT current_database()", String.class);
        setUp.execute("ALTER DATABASE %s SET synchronous_commit = off".formatted(database));
        ClaimRequest cautious = cautious();
        try {
            assertThat(transaction.execute(cautious, charging("1"))).isEqualTo(new Parked());
        } finally {
            setUp.execute("ALTER DATABASE %s RESET synchronous_commit".formatted(database));
            setUp.execute("DROP TRIGGER parking ON exactly_once_claim");
        }
        assertThat(setUp.queryForList("SELECT setting FROM parking", String.class))
                .containsExactly("on");
    }

    /** The claim acquired nothing, so nothing is lost. A message on its last receive must not be redelivered for it. */
    @Test
    void refusalWhoseTransactionLosesItsConnectionIsNoAnswer() {
        external.claim(List.of(request));
        var losing = new JdbcTransactionManager(DATABASE.application()) {
            @Override
            protected void doCommit(DefaultTransactionStatus status) {
                super.doCommit(status);
                throw new TransactionSystemException("JDBC commit", new SQLException("connection reset", "08006"));
            }
        };
        var refused = over(losing, DATABASE.application());

        assertThatThrownBy(() -> refused.execute(request(key), NOT_TO_BE_CALLED))
                .isInstanceOf(ClaimStoreUnavailableException.class);
    }

    @Test
    void keyThatAnotherWorkerAbandonedIsParkedForGoodIfTheRequestLeavesDoubtToAPerson() throws Throwable {
        external.claim(List.of(request));
        DATABASE.endLease(request.id());
        ClaimRequest cautious = cautious();

        assertThat(transaction.execute(cautious, charging("1"))).isEqualTo(new Parked());

        assertThat(charges()).isZero();
        assertThat(external.claim(List.of(request(key)))).containsExactly(new Parked());
    }

    /**
     * The failure must not count as an outage, which would pause the listener. Only the index detects the conflict, at
     * the end.
     */
    @Test
    void keyThatTheIndexCannotHoldIsRefusedForGood() throws Throwable {
        String unbounded = new Random(7)
                .ints(ClaimKey.MAX_LENGTH, 0x4E00, 0x9FFF)
                .collect(StringBuilder::new, StringBuilder::appendCodePoint, StringBuilder::append)
                .toString();

        assertThatIllegalArgumentException()
                .isThrownBy(() -> transaction.execute(request(new ClaimKey(unbounded, unbounded)), charging("1")))
                .withMessageContaining("shorten the scope");
        assertNothingHappened();
    }

    @Test
    void claimWorkAndResultAreCommittedTogether() throws Throwable {
        ClaimOutcome outcome = transaction.execute(request, claim -> {
            charge();
            assertThat(claim.attempt()).isEqualTo(1);
            assertThat(claim.inDoubt()).isFalse();
            try (Connection other = DATABASE.application().getConnection();
                    var rows = other.createStatement()
                            .executeQuery("SELECT 1 FROM exactly_once_claim WHERE key = '" + key.key() + "'")) {
                assertThat(rows.next()).isFalse();
            }
            return "\"done\"";
        });

        assertThat(outcome).isInstanceOf(Acquired.class);
        assertThat(charges()).isEqualTo(1);
        assertThat(DATABASE.row(key)).containsEntry("status", "COMPLETED").containsEntry("result", "\"done\"");
        assertThat(DATABASE.row(key).get("completed_at")).isNotNull();
    }

    @Test
    void failureRollsEverythingBackAndTheNextTokenIsHigher() throws Throwable {
        IOException failure = new IOException("the warehouse is closed");
        Acquired[] first = new Acquired[1];

        assertThatThrownBy(() -> again(claim -> {
                    first[0] = claim;
                    charge();
                    throw failure;
                }))
                .isSameAs(failure);

        assertThat(hasRow()).isFalse();
        Acquired second = (Acquired) again(charging(null));
        assertThat(second.fencingToken()).isGreaterThan(first[0].fencingToken());
        assertThat(second.attempt()).isEqualTo(1);
        assertThat(charges()).isEqualTo(1);
    }

    @Test
    void secondTransactionOnTheKeyIsNotKeptWaiting() throws Throwable {
        assertThat(again(claim -> {
                    charge();
                    assertThat(inAnotherThread(() -> again(NOT_TO_BE_CALLED)))
                            .isEqualTo(new HeldElsewhere(request.lease()));
                    return null;
                }))
                .isInstanceOf(Acquired.class);
        assertThat(charges()).isEqualTo(1);
    }

    @Test
    void otherKeyOfTheSameNumberIsHeldElsewhereAndNothingWorse() throws Throwable {
        try (Connection other = DATABASE.application().getConnection()) {
            other.setAutoCommit(false);
            other.createStatement().execute("SELECT pg_advisory_xact_lock(" + DATABASE.lockOf(key) + ")");
            assertThat(again(NOT_TO_BE_CALLED)).isInstanceOf(HeldElsewhere.class);
            other.rollback();
        }
        assertNothingHappened();
    }

    @Test
    void keyThatIsHeldForExternalEffectsIsHeldElsewhere() throws Throwable {
        external.claim(List.of(request));

        assertThat(again(NOT_TO_BE_CALLED))
                .isInstanceOfSatisfying(
                        HeldElsewhere.class,
                        held -> assertThat(held.leaseRemaining()).isBetween(Duration.ofSeconds(1), request.lease()));
    }

    @Test
    void keyWhoseOwnerVanishedIsInDoubtAndItsZombieCannotComplete() throws Throwable {
        Acquired zombie = (Acquired) external.claim(List.of(request)).get(0);
        DATABASE.endLease(request.id());

        ClaimOutcome outcome = again(charging("2"));

        assertThat(outcome).isInstanceOfSatisfying(Acquired.class, acquired -> {
            assertThat(acquired.inDoubt()).isTrue();
            assertThat(acquired.attempt()).isEqualTo(2);
            assertThat(acquired.fencingToken()).isGreaterThan(zombie.fencingToken());
        });
        assertThat(external.resolve(List.of(new ClaimResolution.Completed(request.id(), "1")))
                        .granted())
                .isEmpty();
        assertThat(DATABASE.row(key)).containsEntry("status", "COMPLETED").containsEntry("result", "2");
    }

    @Test
    void keyThatWasReleasedIsTakenOverAndAFailureLeavesItAsItWas() throws Throwable {
        external.claim(List.of(request));
        external.resolve(List.of(new ClaimResolution.Released(request.id(), "failed", false)));
        var released = DATABASE.row(key);

        assertThatThrownBy(() -> again(claim -> {
                    throw new IOException("the warehouse is closed");
                }))
                .isInstanceOf(IOException.class);
        assertThat(DATABASE.row(key))
                .containsEntry("status", "RELEASED")
                .containsEntry("claim_id", released.get("claim_id"));

        assertThat(again(charging(null))).isInstanceOfSatisfying(Acquired.class, acquired -> {
            assertThat(acquired.inDoubt()).isFalse();
            assertThat(acquired.attempt()).isEqualTo(2);
        });
        assertThat(DATABASE.row(key)).containsEntry("status", "COMPLETED");
    }

    /** A replica also grants locks. */
    @Test
    void serverThatTakesNoWritesDecidesNothingNotEvenThatTheKeyIsHeld() throws Throwable {
        PGSimpleDataSource readOnly = new PGSimpleDataSource();
        readOnly.setUrl(DATABASE.url());
        readOnly.setUser("postgres");
        readOnly.setPassword(EmbeddedDatabase.shared().password());
        readOnly.setOptions("-c default_transaction_read_only=on");
        var refusing = over(new JdbcTransactionManager(readOnly), readOnly);

        again(holding -> {
            assertThatThrownBy(() -> inAnotherThread(() -> refusing.execute(request(key), NOT_TO_BE_CALLED)))
                    .rootCause()
                    .hasMessageContaining("read-only transaction");
            return null;
        });
    }

    /**
     * A savepoint begins a subtransaction. The rows that are written after it have the number of the subtransaction.
     */
    @ParameterizedTest
    @EnumSource
    void claimIsCompletedAlthoughTheDriverSetsSavepointsOfItsOwn(AutoSave autosave) throws Throwable {
        PGSimpleDataSource application = new PGSimpleDataSource();
        application.setUrl(DATABASE.url());
        application.setUser("postgres");
        application.setPassword(EmbeddedDatabase.shared().password());
        application.setAutosave(autosave);
        try (Connection connection = application.getConnection()) {
            var single = new SingleConnectionDataSource(connection, true);
            var saving = over(new JdbcTransactionManager(single), single);
            int moreThanTheDriverWaitsBeforeItPrepares = 8;
            for (int time = 0; time < moreThanTheDriverWaitsBeforeItPrepares; time++) {
                ClaimRequest next = request();
                assertThat(saving.execute(next, claim -> "1")).isInstanceOf(Acquired.class);
                assertThat(saving.execute(request(next.key()), NOT_TO_BE_CALLED))
                        .isEqualTo(new AlreadyCompleted("1"));
            }
        }
    }

    /**
     * The driver with this setting sends parameters as untyped text, and each statement separately. Startup refuses the
     * setting for the claims' connections. The application's connections may have it, if claims have their own URL.
     */
    @Test
    void claimIsCompletedAlthoughTheApplicationsDriverPreparesNothing() throws Throwable {
        PGSimpleDataSource application = new PGSimpleDataSource();
        application.setUrl(DATABASE.url());
        application.setUser("postgres");
        application.setPassword(EmbeddedDatabase.shared().password());
        application.setPreferQueryMode(PreferQueryMode.SIMPLE);
        var simple = over(new JdbcTransactionManager(application), application);

        assertThat(simple.execute(request, claim -> "1")).isInstanceOf(Acquired.class);
        assertThat(simple.execute(List.of(request(key), request()), claimed -> Map.of()))
                .extracting(Object::getClass)
                .containsExactly(AlreadyCompleted.class, Acquired.class);
    }

    @Test
    void failureThatTheWorkSwallowedAfterSpringMarkedTheTransactionRollsBack() throws Throwable {
        assertThatThrownBy(() -> again(claim -> {
                    charge();
                    try {
                        new TransactionTemplate(manager).executeWithoutResult(status -> {
                            throw new IllegalStateException("no stock");
                        });
                    } catch (IllegalStateException swallowed) {
                        assertThat(swallowed).hasMessage("no stock");
                    }
                    return null;
                }))
                .isInstanceOf(ClaimTransactionException.class)
                .hasMessageContaining("it was marked for rollback within the handler");

        assertNothingHappened();
    }

    @Test
    void failureOfAStatementThatTheWorkSwallowedRollsBack() throws Throwable {
        assertThatThrownBy(() -> again(claim -> {
                    charge();
                    try {
                        DATABASE.jdbc().update("INSERT INTO charge VALUES ('invalid')");
                    } catch (DataIntegrityViolationException swallowed) {
                        assertThat(swallowed).hasMessageContaining("charge");
                    }
                    return null;
                }))
                .isInstanceOf(ClaimTransactionException.class)
                .hasMessageContaining(
                        "failed (DataIntegrityViolationException, SQLSTATE 23514), and the handler went on")
                .hasMessageContaining("ON CONFLICT DO NOTHING")
                .hasMessageNotContaining("invalid");

        assertNothingHappened();
    }

    @Test
    void workThatRollsBackByItselfDoesNotCompleteItsKey() throws Throwable {
        assertThatThrownBy(() -> again(claim -> {
                    charge();
                    DATABASE.jdbc().execute((ConnectionCallback<Void>) connection -> {
                        connection.rollback();
                        return null;
                    });
                    return null;
                }))
                .isInstanceOf(ClaimTransactionException.class)
                .hasMessageContaining("must neither commit nor roll back by itself")
                .hasMessageNotContaining(key.key());

        assertNothingHappened();
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void workThatCommitsByItselfLeavesADoubtRatherThanACompletion(boolean returns) throws Throwable {
        IOException failure = new IOException("the warehouse is closed");
        Throwable thrown = catchThrowable(() -> transaction.execute(request, claim -> {
            charge();
            commit();
            if (!returns) {
                throw failure;
            }
            charge();
            return "1";
        }));

        if (returns) {
            assertThat(thrown)
                    .isInstanceOf(ClaimTransactionException.class)
                    .hasMessageContaining("must neither commit nor roll back by itself");
        } else {
            assertThat(thrown).isSameAs(failure);
        }
        assertThat(charges()).as("what was written before the commit").isEqualTo(1);
        assertThat(DATABASE.row(key))
                .containsEntry("status", "RELEASED")
                .containsEntry("in_doubt", true)
                .containsEntry("result", null);
        assertThat(again(claim -> null))
                .isInstanceOfSatisfying(
                        Acquired.class,
                        acquired -> assertThat(acquired.inDoubt()).isTrue());
    }

    private static void commit() {
        DATABASE.jdbc().execute((ConnectionCallback<Void>) connection -> {
            connection.commit();
            return null;
        });
    }

    @Test
    void workThatCommitsByItselfLeavesItsKeyToAPersonIfTheRequestDoes() throws Throwable {
        ClaimRequest cautious = cautious();
        assertThatThrownBy(() -> transaction.execute(cautious, claim -> {
                    charge();
                    commit();
                    return "1";
                }))
                .isInstanceOf(ClaimTransactionException.class);

        ClaimRequest next = cautious();
        assertThat(transaction.execute(next, charging("1"))).isEqualTo(new Parked());
        assertThat(charges()).isEqualTo(1);
    }

    @Test
    void workIsWithinItsClaimInItsOwnTransactionAndNowhereElse() throws Throwable {
        TransactionTemplate apart = new TransactionTemplate(manager);
        List<Boolean> within = new ArrayList<>();
        apart.setPropagationBehavior(TransactionTemplate.PROPAGATION_REQUIRES_NEW);

        transaction.execute(request, claim -> {
            new TransactionTemplate(manager)
                    .executeWithoutResult(joined -> within.add(transaction.isWithin(request.id())));
            apart.executeWithoutResult(status -> within.add(transaction.isWithin(request.id())));
            within.add(inAnotherThread(() -> transaction.isWithin(request.id())));
            return null;
        });

        assertThat(within).containsExactly(true, false, false);
        assertThat(transaction.isWithin(request.id())).isFalse();
    }

    @Test
    void transactionThatIsOpenAlreadyHasNoPartInIt() throws Throwable {
        new TransactionTemplate(manager).executeWithoutResult(outer -> {
            outer.setRollbackOnly();
            try {
                assertThat(again(charging("1"))).isInstanceOf(Acquired.class);
            } catch (Throwable failure) {
                throw new AssertionError(failure);
            }
        });

        assertThat(DATABASE.row(key)).containsEntry("status", "COMPLETED");
        assertThat(charges()).isEqualTo(1);
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void commitWhoseReplyIsLostIsFoundCompleted(boolean goesWithTheCompletion) throws Throwable {
        assertThat(executeLosingTheReply(true, goesWithTheCompletion, DATABASE.pool()))
                .isInstanceOf(Acquired.class);

        assertThat(again(NOT_TO_BE_CALLED)).isEqualTo(new AlreadyCompleted("1"));
        assertThat(charges()).isEqualTo(1);
    }

    /** If the database does not report the result of the transaction, the next claim finds it out. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void commitWhoseReplyIsLostIsFoundByTheNextClaimAtTheLatest(boolean goesWithTheCompletion) throws Throwable {
        PGSimpleDataSource down = new PGSimpleDataSource();
        down.setPortNumbers(new int[] {1});

        assertThatThrownBy(() -> executeLosingTheReply(true, goesWithTheCompletion, down))
                .isInstanceOf(ClaimStoreUnavailableException.class)
                .hasStackTraceContaining("connection");

        assertThat(again(NOT_TO_BE_CALLED)).isEqualTo(new AlreadyCompleted("1"));
        assertThat(charges()).isEqualTo(1);
    }

    @Test
    void failureAfterTheCommitLeavesItCompleted() throws Throwable {
        assertThat(again(claim -> {
                    charge();
                    TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {
                        @Override
                        public void afterCommit() {
                            throw new IllegalStateException("the mail server is down");
                        }
                    });
                    return "1";
                }))
                .isInstanceOf(Acquired.class);

        assertThat(charges()).isEqualTo(1);
        assertThat(DATABASE.row(key)).containsEntry("status", "COMPLETED");
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void commitThatNeverArrivedLeavesNothing(boolean goesWithTheCompletion) throws Throwable {
        assertThatThrownBy(() -> executeLosingTheReply(false, goesWithTheCompletion, DATABASE.pool()))
                .isInstanceOf(ClaimStoreUnavailableException.class)
                .hasStackTraceContaining("connection");

        await().until(() -> DATABASE.jdbc()
                .queryForList("SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND database ="
                        + " (SELECT oid FROM pg_database WHERE datname = current_database())")
                .isEmpty());
        assertNothingHappened();
    }

    /** The work's own exception does not matter, because no connection is left to roll back on. */
    @Test
    void workWhoseConnectionIsLostGotNoAnswer() throws Throwable {
        assertThatThrownBy(() -> again(claim -> {
                    charge();
                    String pid = DATABASE.jdbc().queryForObject("SELECT pg_backend_pid()", String.class);
                    new JdbcTemplate(DATABASE.pool()).queryForList("SELECT pg_terminate_backend(?::int, 5000)", pid);
                    throw new IllegalStateException("the order could not be written");
                }))
                .isInstanceOf(ClaimStoreUnavailableException.class)
                .hasRootCauseMessage("the order could not be written");

        assertNothingHappened();
    }

    @Test
    void manyClaimsTheirWorkAndTheirCompletionsAreCommittedTogether() throws Throwable {
        ClaimRequest done = request();
        transaction.execute(done, claim -> "\"earlier\"");
        ClaimRequest held = request();
        external.claim(List.of(held));
        ClaimRequest free = request();
        external.claim(List.of(free));
        DATABASE.endLease(free.id());
        List<ClaimRequest> requests = List.of(
                request, request(done.key()), request(held.key()), request(free.key()), request(key), request());
        List<ClaimOutcome> seen = new ArrayList<>();

        List<ClaimOutcome> outcomes = transaction.execute(requests, claimed -> {
            seen.addAll(claimed);
            charge();
            return Map.of(requests.get(5).id(), "\"Ł\"");
        });

        assertThat(outcomes).isEqualTo(seen);
        assertThat(outcomes)
                .extracting(Object::getClass)
                .containsExactly(
                        Acquired.class,
                        AlreadyCompleted.class,
                        HeldElsewhere.class,
                        Acquired.class,
                        HeldElsewhere.class,
                        Acquired.class);
        assertThat(((Acquired) outcomes.get(3)).inDoubt()).isTrue();
        assertThat(charges()).isEqualTo(1);
        for (int index : List.of(0, 3, 5)) {
            assertThat(DATABASE.row(requests.get(index).key()))
                    .containsEntry("status", "COMPLETED")
                    .containsEntry("claim_id", requests.get(index).claimId())
                    .containsEntry("result", index == 5 ? "\"Ł\"" : null);
        }
        assertThat(DATABASE.row(held.key())).containsEntry("status", "HELD").containsEntry("claim_id", held.claimId());
    }

    @Test
    void failureRollsAllClaimsBackAndAllCanBeClaimedAgainAtOnce() throws Throwable {
        IOException failure = new IOException("the warehouse is closed");
        List<ClaimRequest> requests = List.of(request, request());

        assertThatThrownBy(() -> transaction.execute(requests, claimed -> {
                    charge();
                    throw failure;
                }))
                .isSameAs(failure);

        assertThat(charges()).isZero();
        assertThat(transaction.execute(
                        List.of(request(key), request(requests.get(1).key())), claimed -> {
                            charge();
                            return Map.of();
                        }))
                .hasOnlyElementsOfType(Acquired.class);
        assertThat(charges()).isEqualTo(1);
    }

    @Test
    void workOnManyClaimsThatCommitsByItselfLeavesDoubtsRatherThanCompletions() {
        List<ClaimRequest> requests = List.of(request, request());

        assertThatThrownBy(() -> transaction.execute(requests, claimed -> {
                    commit();
                    return Map.of();
                }))
                .isInstanceOf(ClaimTransactionException.class)
                .hasMessageContaining("must neither commit nor roll back by itself");

        requests.forEach(each -> assertThat(DATABASE.row(each.key()))
                .containsEntry("status", "RELEASED")
                .containsEntry("in_doubt", true));
    }

    /**
     * Two transactions request the same keys in opposite orders. Neither waits for the other, and no key is handled
     * twice.
     */
    @Test
    void listsOfTheSameKeysNeverWaitForEachOther() throws Throwable {
        ClaimRequest other = request();
        List<ClaimOutcome> second = new ArrayList<>();

        List<ClaimOutcome> first = transaction.execute(List.of(request, other), claimed -> {
            second.addAll(inAnotherThread(() ->
                    transaction.execute(List.of(request(other.key()), request(key), request()), inner -> Map.of())));
            return Map.of();
        });

        assertThat(first).hasOnlyElementsOfType(Acquired.class);
        assertThat(second)
                .extracting(Object::getClass)
                .containsExactly(HeldElsewhere.class, HeldElsewhere.class, Acquired.class);
    }

    /** A plan for each run would take longer than the run. */
    @Test
    void statementsAreNotPlannedAnewForEachRun() throws Throwable {
        PGSimpleDataSource application = new PGSimpleDataSource();
        application.setUrl(DATABASE.url());
        application.setUser("postgres");
        application.setPassword(EmbeddedDatabase.shared().password());
        try (Connection connection = application.getConnection()) {
            var single = new SingleConnectionDataSource(connection, true);
            var kept = over(new JdbcTransactionManager(single), single);
            int runs = 30;
            for (int run = 0; run < runs; run++) {
                kept.execute(request(), claim -> null);
                kept.execute(List.of(request(), request()), claimed -> Map.of());
            }

            assertThat(new JdbcTemplate(single)
                            .queryForList(
                                    "SELECT generic_plans FROM pg_prepared_statements"
                                            + " WHERE statement LIKE '%exactly_once_claim%'"
                                            + " AND generic_plans + custom_plans > 10",
                                    Integer.class))
                    .hasSizeGreaterThanOrEqualTo(3)
                    .allMatch(generic -> generic > 10);
        }
    }

    /** Returns the table as a startup found it, because its database may be unavailable by now. */
    private static ClaimTable known(DataSource claims) {
        return new ClaimTable(
                "public." + ClaimTable.DEFAULT_NAME, claims, TestDatabase.RETENTION, SynchronousCommit.ON);
    }

    private ClaimOutcome executeLosingTheReply(boolean committed, boolean goesWithTheCompletion, DataSource claims)
            throws Throwable {
        var dataSource = new CommitLosingDataSource(DATABASE.application(), committed);
        var jdbc = new JdbcTemplate(dataSource);
        return new PostgresClaimTransaction(
                        new ApplicationTransactions(
                                new JdbcTransactionManager(dataSource),
                                new DefaultTransactionAttribute(),
                                dataSource,
                                Seen.in(DATABASE.jdbc(), known(claims))),
                        known(claims))
                .execute(request, claim -> {
                    jdbc.update("INSERT INTO charge VALUES (?)", key.key());
                    if (!goesWithTheCompletion) {
                        TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {});
                    }
                    return "1";
                });
    }

    /** MyBatis does this, and so do listeners of transactional events. */
    @Test
    void whatIsWrittenBeforeTheCommitIsCommittedWithTheClaim() throws Throwable {
        again(claim -> {
            TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {
                @Override
                public void beforeCommit(boolean readOnly) {
                    assertThat(DATABASE.row(key)).containsEntry("status", "COMPLETED");
                    charge();
                }
            });
            return "1";
        });

        assertThat(charges()).isEqualTo(1);
        assertThat(DATABASE.row(key)).containsEntry("status", "COMPLETED");
    }

    /** The commit itself fails, in the completion's round trip. */
    @Test
    void constraintThatIsCheckedAtTheCommitRollsEverythingBack() throws Throwable {
        assertThatThrownBy(() -> again(claim -> {
                    charge();
                    DATABASE.jdbc().update("INSERT INTO receipt VALUES ('unknown')");
                    return "1";
                }))
                .isInstanceOf(DataIntegrityViolationException.class)
                .hasMessageContaining("receipt");

        assertNothingHappened();
    }

    private static <T> T inAnotherThread(ThrowingSupplier<T> action) throws Exception {
        return begin(action).get(20, TimeUnit.SECONDS);
    }

    private static <T> FutureTask<T> begin(ThrowingSupplier<T> action) {
        FutureTask<T> task = new FutureTask<>(() -> {
            try {
                return action.get();
            } catch (Exception | Error failure) {
                throw failure;
            } catch (Throwable failure) {
                throw new AssertionError(failure);
            }
        });
        new Thread(task).start();
        return task;
    }

    @FunctionalInterface
    private interface ThrowingSupplier<T> {
        T get() throws Throwable;
    }
}
