package io.exactlyonce.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;

/**
 * The product behind the SQS server of these tests. The requested kind names the product, or the server at an address
 * identifies itself.
 */
public enum SqsProduct {
    ELASTICMQ,
    LOCALSTACK,
    MOTO,
    AWS,
    /** A server that does not identify itself, such as another ElasticMQ process. */
    UNKNOWN;

    private static final Duration PATIENCE = Duration.ofSeconds(10);
    private static final int OK = 200;

    /** Returns the product of this JVM's server, which identifies itself once. */
    static SqsProduct current() {
        return Holder.CURRENT;
    }

    private static SqsProduct find() {
        return switch (SqsServerKind.wanted()) {
            case LOCALSTACK -> LOCALSTACK;
            // These two products deviate from AWS where the proxy's answers leave ElasticMQ unchanged.
            case ELASTICMQ, AWS_ANSWERS, AWS_WEATHER -> ELASTICMQ;
            case AWS -> AWS;
            case ENDPOINT -> at(SqsServerKind.endpoint());
        };
    }

    /** Requests pages that only one product has. */
    static SqsProduct at(URI server) {
        if (answers(server.resolve("/_localstack/health"), "\"services\"")) {
            return LOCALSTACK;
        }
        return answers(server.resolve("/moto-api/"), "Moto") ? MOTO : UNKNOWN;
    }

    private static boolean answers(URI page, String part) {
        HttpClient client = HttpClient.newBuilder().connectTimeout(PATIENCE).build();
        HttpRequest request = HttpRequest.newBuilder(page).timeout(PATIENCE).build();
        try {
            HttpResponse<String> answer = client.send(request, BodyHandlers.ofString());
            return answer.statusCode() == OK && answer.body().contains(part);
        } catch (IOException unreachable) {
            throw new UncheckedIOException("No SQS server answers at " + page, unreachable);
        } catch (InterruptedException hurry) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("Interrupted while " + page + " was asked for", hurry);
        }
    }

    private static final class Holder {
        private static final SqsProduct CURRENT = find();
    }
}
