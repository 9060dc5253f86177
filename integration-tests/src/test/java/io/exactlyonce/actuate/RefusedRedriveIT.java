package io.exactlyonce.actuate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.exactlyonce.ExactlyOnceListener;
import io.exactlyonce.testing.EmbeddedDatabase;
import io.exactlyonce.testing.SqsServer;
import io.exactlyonce.testing.TestApplication;
import io.exactlyonce.testing.wire.SqsAnswer;
import io.exactlyonce.testing.wire.SqsBackend;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.springframework.boot.WebApplicationType;
import tools.jackson.databind.node.JsonNodeFactory;

/** If SQS refuses a redrive, the operator's response names the reason instead of a bare status 500. */
class RefusedRedriveIT {

    private static final SqsBackend ELASTIC_MQ = SqsServer.elasticMq();

    private static final SqsServer SQS = SqsServer.through(
            call -> call.action().equals("StartMessageMoveTask") ? accessDenied() : ELASTIC_MQ.answer(call));

    static class Listener {

        @ExactlyOnceListener(id = "orders", queueNames = "${test.queue}")
        void handle(String order) {}
    }

    private static SqsAnswer accessDenied() {
        return new SqsAnswer(
                400,
                JsonNodeFactory.instance
                        .objectNode()
                        .put("__type", "com.amazon.coral.service#AccessDeniedException")
                        .put("message", "User shop may not perform sqs:startmessagemovetask"),
                "AccessDenied;Sender");
    }

    private static HttpResponse<String> redrive(TestApplication application, String listener) throws Exception {
        String port = application.context().getEnvironment().getRequiredProperty("local.server.port");
        HttpRequest request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/actuator/exactlyonce"))
                .header("Content-Type", "application/json")
                .POST(BodyPublishers.ofString("{\"listener\":\"%s\",\"action\":\"redrive\"}".formatted(listener)))
                .build();
        return HttpClient.newHttpClient().send(request, BodyHandlers.ofString());
    }

    private static TestApplication start(String queue, String access) {
        Map<String, String> properties = new HashMap<>(SQS.properties());
        properties.put("test.queue", queue);
        properties.put("management.endpoints.web.exposure.include", "exactlyonce");
        properties.put("management.endpoint.exactlyonce.access", access);
        return TestApplication.start(
                WebApplicationType.SERVLET, EmbeddedDatabase.shared().createDatabase(), properties, Listener.class);
    }

    @Test
    void answerNamesTheQueueTheReasonAndTheRemedy() throws Exception {
        String deadLetters = SQS.createQueue(30);
        String queue = SQS.createQueue(30, deadLetters, 5);
        try (TestApplication application = start(queue, "unrestricted")) {
            await().untilAsserted(() -> {
                HttpResponse<String> answer = redrive(application, "orders");

                assertThat(answer.statusCode()).isEqualTo(502);
                assertThat(answer.body())
                        .contains("\"redriven\":[]")
                        .contains("\"queue\":\"arn:aws:sqs:", deadLetters)
                        .contains("User shop may not perform sqs:startmessagemovetask")
                        .contains("\"remedy\":\"allow sqs:StartMessageMoveTask, ");
            });
            HttpResponse<String> unknown = redrive(application, "order");
            assertThat(unknown.statusCode()).isEqualTo(404);
            assertThat(unknown.body())
                    .isEqualTo(
                            "{\"reason\":\"no listener of this name claims keys on this instance; running: orders\"}");
        } finally {
            SQS.deleteQueue(queue);
            SQS.deleteQueue(deadLetters);
        }
    }
}
