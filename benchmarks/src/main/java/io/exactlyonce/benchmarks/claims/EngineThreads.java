package io.exactlyonce.benchmarks.claims;

import io.exactlyonce.benchmarks.BenchmarkDatabase;
import io.exactlyonce.benchmarks.Contestant;
import io.exactlyonce.benchmarks.Reading;
import io.exactlyonce.benchmarks.Turn;

/** The claim engine on an empty table. */
final class EngineThreads implements Contestant {

    private final BenchmarkDatabase database;
    private final int threads;

    EngineThreads(BenchmarkDatabase database, int threads) {
        this.database = database;
        this.threads = threads;
    }

    @Override
    public String name() {
        return "engine, %d threads".formatted(threads);
    }

    @Override
    public Reading run(Turn turn) throws Exception {
        database.reset();
        ClaimThreads.Result result =
                new ClaimThreads(database.pool(), BenchmarkDatabase.CONNECTIONS, threads).run(turn.length());
        if (database.requireAllCompleted() != result.pairs()) {
            throw new IllegalStateException(
                    "The table has another number of completed claims than %d".formatted(result.pairs()));
        }
        return Reading.of(result.perSecond());
    }
}
