package io.exactlyonce.benchmarks.claims;

import io.exactlyonce.benchmarks.BenchmarkDatabase;
import io.exactlyonce.benchmarks.Contestant;
import io.exactlyonce.benchmarks.report.Findings;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Optional;

/** The engine's statements without the engine. */
interface RawStatements {

    /** Returns clients with one row per transaction. */
    Contestant single(int clients) throws IOException;

    /** Returns clients with fifty rows per statement; keys are counted. */
    Contestant batchOfFifty(int clients) throws IOException;

    /** Finds pgbench. Without pgbench, the JDBC driver replaces it, and the names of the contestants mention that. */
    static RawStatements find(BenchmarkDatabase database, Findings findings) {
        Optional<Path> pgbench = Pgbench.find();
        if (pgbench.isEmpty()) {
            findings.note("pgbench is missing (Debian: apt-get install postgresql): a loop over the JDBC driver stands"
                    + " in for it, which is slower");
            return new DriverLoops(database);
        }
        return new Pgbench(pgbench.get(), database);
    }
}
