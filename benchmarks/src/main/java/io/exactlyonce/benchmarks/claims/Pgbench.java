package io.exactlyonce.benchmarks.claims;

import io.exactlyonce.benchmarks.BenchmarkDatabase;
import io.exactlyonce.benchmarks.Contestant;
import io.exactlyonce.benchmarks.Reading;
import io.exactlyonce.benchmarks.Turn;
import io.exactlyonce.servers.LocalPostgres;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** PostgreSQL's own benchmark program in a separate process, with prepared statements and two threads. */
final class Pgbench implements RawStatements {

    private static final Path DEBIAN = Path.of("/usr/lib/postgresql");
    private static final Pattern RATE = Pattern.compile("tps = ([0-9.]+) \\(without initial connection time\\)");

    private final Path program;
    private final BenchmarkDatabase database;

    Pgbench(Path program, BenchmarkDatabase database) {
        this.program = program;
        this.database = database;
    }

    static Optional<Path> find() {
        Stream<Path> onPath = Stream.of(
                        Objects.requireNonNullElse(System.getenv("PATH"), "").split(File.pathSeparator))
                .map(folder -> Path.of(folder, "pgbench"));
        return Stream.concat(debian(), onPath).filter(Files::isExecutable).findFirst();
    }

    /**
     * Returns the directories of Debian. The program on Debian's path is a script that searches for the newest version.
     */
    private static Stream<Path> debian() {
        String[] versions = DEBIAN.toFile().list();
        return versions == null
                ? Stream.of()
                : Stream.of(versions).map(version -> DEBIAN.resolve(version).resolve("bin/pgbench"));
    }

    @Override
    public Contestant single(int clients) throws IOException {
        return contestant("pgbench, one row, %d clients".formatted(clients), "single.sql", clients, 1);
    }

    @Override
    public Contestant batchOfFifty(int clients) throws IOException {
        return contestant("pgbench, fifty rows, %d clients".formatted(clients), "batch50.sql", clients, 50);
    }

    private Contestant contestant(String name, String script, int clients, int keys) throws IOException {
        Path file = Files.createTempFile("pgbench", ".sql");
        file.toFile().deleteOnExit();
        try (InputStream text = Pgbench.class.getResourceAsStream("/pgbench/" + script)) {
            Files.write(file, Objects.requireNonNull(text, script).readAllBytes());
        }
        return new Contestant() {
            @Override
            public String name() {
                return name;
            }

            @Override
            public Reading run(Turn turn) throws Exception {
                database.reset();
                double rate = keys * transactionsPerSecond(file, clients, turn.length());
                database.requireAllCompleted();
                return Reading.of(rate);
            }
        };
    }

    private double transactionsPerSecond(Path script, int clients, Duration length) throws Exception {
        ProcessBuilder command = new ProcessBuilder(List.of(
                        program.toString(),
                        "--no-vacuum",
                        "--protocol=prepared",
                        "--file=" + script,
                        "--client=" + clients,
                        "--jobs=2",
                        "--time=" + Math.max(1, length.toSeconds()),
                        "--host=127.0.0.1",
                        "--port=" + database.port(),
                        "--username=postgres",
                        "postgres"))
                .redirectErrorStream(true);
        // The engine also forbids sequential scans, because on a young table they are slower than the planner expects.
        command.environment().put("PGPASSWORD", LocalPostgres.password());
        command.environment().put("PGOPTIONS", "-c enable_seqscan=off");
        Process process = command.start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        Matcher rate = RATE.matcher(output);
        if (process.waitFor() != 0 || !rate.find()) {
            throw new IllegalStateException("pgbench failed: " + output);
        }
        return Double.parseDouble(rate.group(1));
    }
}
