package io.exactlyonce.listener;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.exactlyonce.Claim;
import io.exactlyonce.ExactlyOnceListener;
import io.exactlyonce.testing.EmbeddedDatabase;
import io.exactlyonce.testing.SqsServer;
import io.exactlyonce.testing.TestApplication;
import io.exactlyonce.testing.UsesSqs;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.aop.support.AopUtils;
import org.springframework.transaction.annotation.Transactional;

/** Handlers whose work continues after their methods have returned. */
@UsesSqs
class AsyncHandlerIT {

    private static final int WINDOW_SECONDS = 2;
    private static final SqsServer SQS = SqsServer.shared();

    interface Fulfilment {
        CompletionStage<String> fulfil(String order, Claim claim);
    }

    static class Fulfiller implements Fulfilment {
        private final List<String> calls = new CopyOnWriteArrayList<>();
        private final List<Thread> cancellers = new CopyOnWriteArrayList<>();
        private final List<CompletableFuture<String>> futures = new CopyOnWriteArrayList<>();

        @Override
        @Transactional
        @ExactlyOnceListener(id = "orders", queueNames = "${test.queue}", key = "#order", timeout = "${test.timeout}")
        public CompletionStage<String> fulfil(String order, Claim claim) {
            CompletableFuture<String> future = new CompletableFuture<>() {
                @Override
                public boolean cancel(boolean mayInterrupt) {
                    cancellers.add(Thread.currentThread());
                    return super.cancel(mayInterrupt);
                }
            };
            calls.add("%s, attempt %d, in doubt %s".formatted(order, claim.attempt(), claim.isInDoubt()));
            futures.add(future);
            return future;
        }
    }

    private final String queue = SQS.createQueue(WINDOW_SECONDS);

    private TestApplication start(String timeout, Map<String, String> properties) {
        Map<String, String> all = new HashMap<>(properties);
        all.putAll(Map.of("test.queue", queue, "test.timeout", timeout));
        return TestApplication.start(EmbeddedDatabase.shared().createDatabase(), all, Fulfiller.class);
    }

    /** Spring would give this bean interface proxies by default. A listener is proxied by its class. */
    @Test
    void workIsRenewedBeyondItsVisibilityTimeoutAndItsFailureRetried() {
        try (TestApplication application = start("", Map.of("spring.aop.proxy-target-class", "false"))) {
            Fulfilment bean = application.bean(Fulfilment.class);
            assertThat(AopUtils.isCglibProxy(bean)).isTrue();
            Fulfiller fulfiller = target(bean);
            SQS.send(queue, "o1");
            await().until(() -> fulfiller.futures.size() == 1);

            await().during(Duration.ofSeconds(2 * WINDOW_SECONDS))
                    .atMost(Duration.ofSeconds(4 * WINDOW_SECONDS))
                    .until(() -> fulfiller.calls.size() == 1 && application.claims("HELD") == 1);
            fulfiller.futures.get(0).completeExceptionally(new IllegalStateException("payment provider is down"));
            await().atMost(Duration.ofSeconds(20)).until(() -> fulfiller.futures.size() == 2);
            fulfiller.futures.get(1).complete("shipped");

            SQS.awaitEmpty(queue);
            assertThat(fulfiller.calls)
                    .containsExactly("o1, attempt 1, in doubt false", "o1, attempt 2, in doubt false");
            assertThat(application.texts("SELECT result FROM exactly_once_claim"))
                    .containsExactly("\"shipped\"");

            SQS.send(queue, "o1");
            SQS.awaitEmpty(queue);
            assertThat(fulfiller.calls).hasSize(2);
        }
    }

    private static Fulfiller target(Fulfilment bean) {
        return (Fulfiller) Objects.requireNonNull(AopProxyUtils.getSingletonTarget(bean));
    }
}
