package io.exactlyonce.sample.lab;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.List;

/**
 * What {@code /actuator/prometheus} of a worker says.
 *
 * @param lines all of it, without the comments
 */
record Metrics(List<String> lines) {

    private static final Duration PATIENCE = Duration.ofSeconds(5);
    private static final String OURS = "exactly_once_";

    static Metrics scrape(int port) throws IOException, InterruptedException {
        URI uri = URI.create("http://127.0.0.1:%d/actuator/prometheus".formatted(port));
        HttpRequest request = HttpRequest.newBuilder(uri).timeout(PATIENCE).build();
        return parse(HttpClient.newHttpClient()
                .send(request, BodyHandlers.ofString())
                .body());
    }

    static Metrics parse(String body) {
        return new Metrics(body.lines().filter(line -> !line.startsWith("#")).toList());
    }

    /** Returns the lines that answer: how near is the window, and what became of the claims and renewals? */
    List<String> excerpt() {
        return lines.stream()
                .filter(line -> line.startsWith(OURS))
                .filter(line -> !line.contains("quantile=\"") || line.contains("quantile=\"0.95\""))
                .filter(line -> !line.matches("\\w+_(sum|max|bucket)\\{.*"))
                .toList();
    }
}
