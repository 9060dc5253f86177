package io.exactlyonce.chaos.dynamodb;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.time.temporal.ChronoUnit;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;

class DynamoDbWireTests {

    private static final int MANY = 60;

    private final HttpClient client = HttpClient.newHttpClient();
    private final AtomicInteger served = new AtomicInteger();
    private HttpServer server;
    private DynamoDbWire wire;

    @BeforeEach
    void start() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 50);
        server.createContext("/", exchange -> {
            try (exchange) {
                byte[] body = exchange.getRequestBody().readAllBytes();
                served.incrementAndGet();
                exchange.sendResponseHeaders(200, body.length);
                exchange.getResponseBody().write(body);
            }
        });
        server.start();
        wire = new DynamoDbWire(server.getAddress().getPort(), 17);
    }

    @AfterEach
    void stop() throws IOException {
        wire.close();
        server.stop(0);
    }

    @Test
    void requestsAndAnswersPass() throws Exception {
        HttpResponse<String> answer = ask();

        assertThat(answer.statusCode()).isEqualTo(200);
        assertThat(answer.body()).isEqualTo("{}");
        assertThat(date(answer)).isPresent();
    }

    @Test
    void answersAreLostAfterTheServerHasActed() throws Exception {
        wire.begin(ServiceFault.ANSWERS_LOST);
        int lost = 0;
        for (int request = 0; request < MANY; request++) {
            lost += isAnswered() ? 0 : 1;
        }

        assertThat(lost).isBetween(1, MANY - 1);
        assertThat(served).hasValueGreaterThanOrEqualTo(MANY);
    }

    @Test
    void datesDifferByNoMoreThanASecondFromTheTrueOne() throws Exception {
        wire.begin(ServiceFault.DATES_DIFFER);
        Set<Long> seconds = new HashSet<>();
        for (int request = 0; request < MANY; request++) {
            ZonedDateTime before = ZonedDateTime.now().truncatedTo(ChronoUnit.SECONDS);
            seconds.add(ChronoUnit.SECONDS.between(
                    before, ZonedDateTime.parse(date(ask()).orElseThrow(), DateTimeFormatter.RFC_1123_DATE_TIME)));
        }

        // The clock's second may end between the test's reading and the server's.
        assertThat(seconds).contains(-1L, 0L, 1L).allMatch(second -> second >= -1 && second <= 2);
    }

    @Test
    void datesAreMissingOrCannotBeReadAndComeBack() throws Exception {
        wire.begin(ServiceFault.DATES_MISSING);
        assertThat(date(ask())).isEmpty();
        wire.end(ServiceFault.DATES_MISSING);

        wire.begin(ServiceFault.DATES_UNREADABLE);
        assertThat(date(ask())).hasValue("in a moment");
        wire.end(ServiceFault.DATES_UNREADABLE);

        assertThat(date(ask())).hasValueSatisfying(DateTimeFormatter.RFC_1123_DATE_TIME::parse);
    }

    /** On a busy machine, one of three runs gave the connection to the thread that waited for it. */
    @RepeatedTest(20)
    void closedWireTakesNoMore() throws Exception {
        wire.close();

        assertThatExceptionOfType(IOException.class).isThrownBy(this::ask);
    }

    private boolean isAnswered() throws InterruptedException {
        try {
            return ask().statusCode() == 200;
        } catch (IOException lost) {
            return false;
        }
    }

    private HttpResponse<String> ask() throws IOException, InterruptedException {
        return client.send(
                HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + wire.port()))
                        .version(HttpClient.Version.HTTP_1_1)
                        .header("X-Amz-Target", "DynamoDB_20120810.GetItem")
                        .POST(BodyPublishers.ofString("{}"))
                        .build(),
                BodyHandlers.ofString());
    }

    private static Optional<String> date(HttpResponse<String> answer) {
        return answer.headers().firstValue("Date");
    }
}
