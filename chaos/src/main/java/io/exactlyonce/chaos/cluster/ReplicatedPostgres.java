package io.exactlyonce.chaos.cluster;

import io.exactlyonce.claim.postgres.ClaimSchema;
import io.exactlyonce.claim.postgres.ClaimTable;
import io.exactlyonce.postgres.SynchronousCommit;
import io.exactlyonce.servers.LocalPostgres;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.springframework.jdbc.core.JdbcTemplate;

/**
 * A primary and its streaming replica. Replication is synchronous unless a fault changes it. Ports change with each
 * failover, so wires read them for each connection.
 */
public final class ReplicatedPostgres implements ClaimServer {

    private static final String DATABASE = "chaos";
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private static final String SETTINGS = """
            listen_addresses = '127.0.0.1'
            unix_socket_directories = ''
            fsync = on
            synchronous_commit = on
            max_connections = 300
            shared_buffers = 256MB
            wal_level = replica
            max_wal_senders = 5
            wal_keep_size = 256MB
            max_wal_size = 256MB
            hot_standby = on
            max_standby_streaming_delay = 1s
            """;

    /** Longer than a run: workers set their own, and only the schema is created with this one. */
    private static final Duration RETENTION = Duration.ofDays(1);

    private static final String CLAIMS =
            "SELECT key, status, coalesce(error, 'parked') AS reason FROM exactly_once_claim";

    private static final String BOOKINGS_WRITTEN = "SELECT key, call FROM booking ORDER BY id";

    private static final String BOOKINGS = """
            CREATE TABLE booking (
                id   bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
                key  text NOT NULL,
                call text NOT NULL
            );
            CREATE TABLE outbox (
                id        bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
                key       text NOT NULL,
                follow_up text NOT NULL
            )
            """;

    private static final String UNSENT = "SELECT count(*) FROM outbox";

    private final Path directory;
    private final ProcessGuard guard;
    private final PostgresBinaries binaries;
    private final AtomicInteger servers = new AtomicInteger();
    private volatile PostgresServer primary;
    private volatile PostgresServer replica;

    private ReplicatedPostgres(Path directory, ProcessGuard guard) throws IOException, SQLException {
        this.directory = directory;
        this.guard = guard;
        DataDisk disk = new DataDisk(directory.resolve("server-1"), guard);
        this.binaries = PostgresBinaries.initialize(disk.createData());
        this.primary = server(disk, servers.incrementAndGet());
        this.replica = primary;
    }

    /**
     * Starts both servers, and creates the database with the booking table.
     *
     * @param partitions how many partitions the claim table has, by hash; 0 for a plain table, which workers create
     */
    public static ReplicatedPostgres start(Path directory, ProcessGuard guard, int partitions)
            throws IOException, SQLException, InterruptedException {
        ReplicatedPostgres pair = new ReplicatedPostgres(directory, guard);
        PostgresServer primary = pair.primary;
        Files.writeString(primary.disk().data().resolve("postgresql.conf"), SETTINGS, StandardOpenOption.APPEND);
        Files.deleteIfExists(primary.disk().data().resolve("epg-lock"));
        primary.start();
        primary.template().execute("CREATE DATABASE " + DATABASE);
        pair.template().execute(BOOKINGS);
        if (partitions > 0) {
            pair.createClaimTable(partitions);
        }
        pair.addReplica();
        return pair;
    }

    /** Creates a partitioned claim table, which workers use instead of creating a plain one. */
    private void createClaimTable(int partitions) {
        new ClaimSchema(new ClaimTable(
                        ClaimTable.DEFAULT_NAME, primary.dataSource(DATABASE), RETENTION, SynchronousCommit.ON))
                .create();
        JdbcTemplate jdbc = template();
        jdbc.execute("ALTER TABLE exactly_once_claim RENAME TO plain");
        jdbc.execute("CREATE TABLE exactly_once_claim (LIKE plain INCLUDING ALL) PARTITION BY HASH (scope, key)");
        jdbc.execute("DROP TABLE plain");
        for (int partition = 0; partition < partitions; partition++) {
            jdbc.execute("""
                    CREATE TABLE exactly_once_claim_%1$d PARTITION OF exactly_once_claim
                    FOR VALUES WITH (MODULUS %2$d, REMAINDER %1$d) WITH (fillfactor = 45)
                    """.formatted(partition, partitions));
        }
    }

    @Override
    public int port() {
        return primary.port();
    }

    @Override
    public int replicaPort() {
        return replica.port();
    }

    @Override
    public List<String> workerArguments(int port, int replicaPort) {
        return List.of(
                "--spring.profiles.active=postgresql",
                "--chaos.replica=" + replicaPort,
                "--spring.datasource.url=jdbc:postgresql://127.0.0.1:%d/%s?connectTimeout=3&socketTimeout=8"
                        .formatted(port, DATABASE));
    }

    @Override
    public List<ClaimLeft> claims() {
        return template()
                .query(
                        CLAIMS,
                        (row, number) ->
                                new ClaimLeft(row.getString("key"), row.getString("status"), row.getString("reason")));
    }

    @Override
    public int unsent() {
        return Objects.requireNonNull(template().queryForObject(UNSENT, Integer.class));
    }

    @Override
    public List<Booking> bookings() {
        return template()
                .query(BOOKINGS_WRITTEN, (row, number) -> new Booking(row.getString("key"), row.getString("call")));
    }

    /** Returns a template for the database on the current primary, as superuser and without a wire. */
    private JdbcTemplate template() {
        return new JdbcTemplate(primary.dataSource(DATABASE));
    }

    /** Kills the primary with all of its backends. */
    public void killPrimary() throws InterruptedException {
        primary.kill();
    }

    /** Starts the primary that was killed, or whose disk was full. */
    public void startPrimary() throws IOException, InterruptedException {
        primary.start();
    }

    /** Sets whether commits wait for the replica's disk. */
    public void setSynchronous(boolean synchronous) throws InterruptedException {
        set(primary, "synchronous_standby_names", synchronous ? "*" : "");
        if (synchronous) {
            awaitState("sync");
        }
    }

    /** Stops replication to the replica. Commits continue if they need not wait for it. */
    public void detachReplica() {
        set(replica, "primary_conninfo", "");
    }

    /** Makes the replica apply commits later than it receives them. */
    public void delayReplica(Duration delay) {
        set(replica, "recovery_min_apply_delay", delay.toMillis() + "ms");
    }

    /** Promotes the replica to primary. The old primary, which must be dead, is not used again. */
    public void promote() throws IOException {
        PostgresServer dead = primary;
        PostgresServer next = replica;
        next.template().queryForList("SELECT pg_promote(true, 60)");
        set(next, "synchronous_standby_names", "");
        primary = next;
        dead.close();
    }

    /** Makes a replica for a primary without one, and waits until commits wait for the replica. */
    public void addReplica() throws IOException, SQLException, InterruptedException {
        int number = servers.incrementAndGet();
        DataDisk disk = new DataDisk(directory.resolve("server-" + number), guard);
        BaseCopy.copy(primary, disk.createData());
        Files.writeString(disk.data().resolve("postgresql.auto.conf"), """
                primary_conninfo = 'host=127.0.0.1 port=%d user=%s password=%s application_name=replica'
                recovery_min_apply_delay = 0
                synchronous_standby_names = ''
                """.formatted(
                        primary.port(), PostgresServer.USER, LocalPostgres.password()));
        Files.createFile(disk.data().resolve("standby.signal"));
        PostgresServer added = server(disk, number);
        added.start();
        replica = added;
        awaitState("async");
        setSynchronous(true);
    }

    public boolean canFillDisk() {
        return primary.disk().canBeFilled();
    }

    public void fillDisk() {
        primary.disk().fill();
    }

    /** Frees the primary's disk, and starts the primary if it has stopped. */
    public void freeDisk() throws IOException, InterruptedException {
        primary.disk().free();
        primary.start();
    }

    private PostgresServer server(DataDisk disk, int number) throws IOException {
        return new PostgresServer(
                binaries,
                disk,
                directory.resolve("postgres-%d.log".formatted(number)).toFile(),
                guard);
    }

    private static void set(PostgresServer server, String name, String value) {
        server.template().execute("ALTER SYSTEM SET %s = '%s'".formatted(name, value));
        server.template().queryForList("SELECT pg_reload_conf()");
    }

    private void awaitState(String state) throws InterruptedException {
        long startNanos = System.nanoTime();
        while (System.nanoTime() - startNanos < PATIENCE.toNanos()) {
            Integer found = primary.template()
                    .queryForObject(
                            "SELECT count(*) FROM pg_stat_replication WHERE state = 'streaming' AND sync_state = ?",
                            Integer.class,
                            state);
            if (found != null && found > 0) {
                return;
            }
            TimeUnit.MILLISECONDS.sleep(50);
        }
        throw new IllegalStateException("The replica is not %s after %d s".formatted(state, PATIENCE.toSeconds()));
    }

    @Override
    public void close() throws IOException {
        if (!replica.equals(primary)) {
            replica.close();
        }
        primary.close();
    }
}
