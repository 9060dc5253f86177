package io.exactlyonce.benchmarks.claims;

import io.exactlyonce.benchmarks.BenchmarkDatabase;
import io.exactlyonce.benchmarks.Contestant;
import io.exactlyonce.benchmarks.Reading;
import io.exactlyonce.benchmarks.Turn;

/** The claim engine on an empty table. */
final class EngineThreads implements Contestant {

    private final BenchmarkDatabase database;
    private final int threads;
    private final int keys;

    EngineThreads(BenchmarkDatabase database, int threads, int keys) {
        this.database = database;
        this.threads = threads;
        this.keys = keys;
    }

    @Override
    public String name() {
        return "engine, %d threads%s".formatted(threads, keys == 1 ? "" : ", %d keys a call".formatted(keys));
    }

    @Override
    public Reading run(Turn turn) throws Exception {
        database.reset();
        ClaimThreads.Result result = new ClaimThreads(database.pool(), threads, keys).run(turn.length());
        if (database.requireAllCompleted() != result.pairs()) {
            throw new IllegalStateException(
                    "The table has another number of completed claims than %d".formatted(result.pairs()));
        }
        return Reading.of(result.perSecond());
    }
}
