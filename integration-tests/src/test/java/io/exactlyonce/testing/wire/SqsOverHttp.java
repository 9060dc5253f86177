package io.exactlyonce.testing.wire;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import tools.jackson.databind.node.ObjectNode;

/** An SQS server that requires no signature, such as ElasticMQ. */
public final class SqsOverHttp implements SqsBackend {

    /** Longer than any poll waits. */
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private final HttpClient client =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private final URI endpoint;

    public SqsOverHttp(URI endpoint) {
        this.endpoint = endpoint;
    }

    @Override
    public SqsAnswer answer(SqsCall call) {
        HttpRequest request = HttpRequest.newBuilder(endpoint)
                .timeout(PATIENCE)
                .header("Content-Type", SqsWire.JSON)
                .header(SqsWire.TARGET, SqsWire.TARGET_PREFIX + call.action())
                .POST(BodyPublishers.ofString(SqsWire.MAPPER.writeValueAsString(call.body())))
                .build();
        try {
            HttpResponse<String> response = client.send(request, BodyHandlers.ofString());
            return new SqsAnswer(
                    response.statusCode(),
                    body(response.body()),
                    response.headers().firstValue(SqsWire.ERROR).orElse(""));
        } catch (IOException unreachable) {
            throw new UncheckedIOException(unreachable);
        } catch (InterruptedException closing) {
            Thread.currentThread().interrupt();
            return SqsAnswer.LOST;
        }
    }

    private ObjectNode body(String text) {
        return text.isBlank() ? SqsWire.MAPPER.createObjectNode() : (ObjectNode) SqsWire.MAPPER.readTree(text);
    }
}
