package io.exactlyonce.benchmarks.claims;

import io.exactlyonce.benchmarks.BenchmarkDatabase;
import io.exactlyonce.benchmarks.Contestant;
import io.exactlyonce.benchmarks.report.Findings;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Optional;

/** The same statements without an engine. */
interface RawStatements {

    /** Returns one row per transaction. */
    Contestant single(int clients) throws IOException;

    /** Returns fifty rows per statement, keys counted. */
    Contestant batchOfFifty(int clients) throws IOException;

    /** Finds pgbench; without it the JDBC driver has to do, and its names say so. */
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
