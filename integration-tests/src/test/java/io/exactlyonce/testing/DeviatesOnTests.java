package io.exactlyonce.testing;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.platform.commons.support.ReflectionSupport;

@Tag("ci")
class DeviatesOnTests {

    static class Marked {
        @DeviatesOn(server = SqsProduct.LOCALSTACK, reason = "it hands messages out of order")
        void test() {}
    }

    private static ConditionEvaluationResult evaluate(SqsProduct server) {
        DeviatesOn deviation =
                ReflectionSupport.findMethod(Marked.class, "test").orElseThrow().getAnnotation(DeviatesOn.class);
        return DeviatesOn.Condition.evaluate(deviation, server);
    }

    @Test
    void testIsSkippedWithItsReasonOnTheServerThatDeviatesOnly() {
        assertThat(evaluate(SqsProduct.LOCALSTACK).isDisabled()).isTrue();
        assertThat(evaluate(SqsProduct.LOCALSTACK).getReason())
                .hasValue("LOCALSTACK deviates from AWS: it hands messages out of order");
        assertThat(evaluate(SqsProduct.MOTO).isDisabled()).isFalse();
        assertThat(evaluate(SqsProduct.UNKNOWN).isDisabled()).isFalse();
    }

    /** The excerpts are from the pages of LocalStack 4.14.0 and moto 5.2.5. */
    @Test
    void serverAtAnAddressIsDetectedByItsAnswers() throws IOException {
        assertThat(productOf(Map.of("/_localstack/health", "{\"services\": {\"sqs\": \"available\"}}")))
                .isEqualTo(SqsProduct.LOCALSTACK);
        assertThat(productOf(Map.of("/moto-api/", "<title>Moto</title>"))).isEqualTo(SqsProduct.MOTO);
        assertThat(productOf(Map.of())).isEqualTo(SqsProduct.UNKNOWN);
    }

    private static SqsProduct productOf(Map<String, String> pages) throws IOException {
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/", exchange -> {
            String page = pages.get(exchange.getRequestURI().getPath());
            byte[] body = (page == null ? "" : page).getBytes(StandardCharsets.UTF_8);
            exchange.sendResponseHeaders(page == null ? 404 : 200, body.length == 0 ? -1 : body.length);
            exchange.getResponseBody().write(body);
            exchange.close();
        });
        server.start();
        try {
            return SqsProduct.at(
                    URI.create("http://127.0.0.1:" + server.getAddress().getPort()));
        } finally {
            server.stop(0);
        }
    }
}
