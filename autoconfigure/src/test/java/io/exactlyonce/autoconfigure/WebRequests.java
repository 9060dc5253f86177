package io.exactlyonce.autoconfigure;

import java.io.IOException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import software.amazon.awssdk.http.async.SdkAsyncHttpClient;
import software.amazon.awssdk.http.nio.netty.NettyNioAsyncHttpClient;

/** Sends requests to applications that a test starts one after the other. */
final class WebRequests {

    /** A request that is never answered fails its test, and does not hold up the build. */
    private static final Duration LONGEST = Duration.ofSeconds(30);

    /**
     * Keeps the threads that all SQS clients of this JVM share. Without this client, each application that ends waits
     * for 2 s until these threads have ended.
     */
    private static final SdkAsyncHttpClient STAYS_OPEN = NettyNioAsyncHttpClient.create();

    private WebRequests() {}

    /**
     * Sends a request on a connection of its own. A server that has answered before it read the request's body may not
     * answer the next request on the same connection.
     */
    static HttpResponse<String> send(HttpRequest.Builder request) throws IOException, InterruptedException {
        return HttpClient.newHttpClient().send(request.timeout(LONGEST).build(), BodyHandlers.ofString());
    }
}
