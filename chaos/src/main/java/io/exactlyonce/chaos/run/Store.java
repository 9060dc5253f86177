package io.exactlyonce.chaos.run;

import io.exactlyonce.chaos.cluster.ClaimServer;
import io.exactlyonce.chaos.cluster.ProcessGuard;
import io.exactlyonce.chaos.cluster.ReplicatedPostgres;
import io.exactlyonce.chaos.dynamodb.DynamoDbService;
import io.exactlyonce.chaos.fault.Scale;
import java.io.IOException;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.Arrays;
import java.util.Locale;

/** The store in which a run keeps its claims. */
enum Store {
    POSTGRESQL {
        @Override
        ClaimServer start(Form form, Path directory, Path logs, ProcessGuard guard)
                throws IOException, SQLException, InterruptedException {
            return ReplicatedPostgres.start(directory, guard, form.partitions());
        }

        @Override
        Scale scale(boolean large) {
            return large ? Scale.large() : Scale.small();
        }
    },
    DYNAMODB {
        @Override
        ClaimServer start(Form form, Path directory, Path logs, ProcessGuard guard)
                throws IOException, InterruptedException {
            return DynamoDbService.start(form.seed(), logs, guard);
        }

        @Override
        Scale scale(boolean large) {
            return large ? Scale.largeOnDynamoDb() : Scale.smallOnDynamoDb();
        }
    };

    static Store named(String name) {
        return Arrays.stream(values())
                .filter(store -> store.label().equals(name))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException(
                        "chaos.store (%s) must be postgresql or dynamodb".formatted(name)));
    }

    String label() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** Starts the store. Its servers write their logs into the same directory as the others. */
    abstract ClaimServer start(Form form, Path directory, Path logs, ProcessGuard guard)
            throws IOException, SQLException, InterruptedException;

    abstract Scale scale(boolean large);
}
