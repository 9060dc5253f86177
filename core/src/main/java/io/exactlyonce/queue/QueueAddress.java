package io.exactlyonce.queue;

import java.net.InetAddress;
import java.net.URI;
import java.net.URISyntaxException;
import java.net.UnknownHostException;
import java.util.Collections;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.arns.Arn;
import software.amazon.awssdk.services.sqs.model.QueueAttributeName;

/**
 * The address of a queue, as far as it is known. Tells whether two addresses may mean the same queue: queues of the
 * same name may exist in several regions, accounts and servers. An unknown region, account or server (for example if
 * only the name is configured) matches every other one.
 *
 * @param name the queue's name
 * @param account the account that owns the queue; {@code null} if it is unknown
 * @param region the queue's region; {@code null} if it is unknown
 * @param servers hosts with ports: that of the queue's URL, and that of the SQS client's endpoint if it differs.
 *     {@link #AWS} stands for all servers of AWS. Empty if no server is known
 */
public record QueueAddress(
        String name, @Nullable String account, @Nullable String region, Set<String> servers) {

    private static final String AWS = "AWS";

    private static final Pattern AWS_HOST = Pattern.compile(".+\\.(amazonaws\\.com(\\.cn)?|api\\.aws)");
    private static final Pattern REGION = Pattern.compile("(?:^|\\.)([a-z]{2,}(?:-[a-z]+)+-\\d+)(?=\\.)");
    private static final String FIRST_HOST = "queue.amazonaws.com";
    private static final String FIRST_REGION = "us-east-1";

    private static final Pattern PATH = Pattern.compile("(?:.*/)?(?<account>\\d{12})/[^/]+/*");

    private static final int HTTPS_PORT = 443;
    private static final int HTTP_PORT = 80;

    /** Returns the name of a queue from its name, URL or ARN. */
    public static String name(String queue) {
        int end = queue.length();
        while (end > 0 && queue.charAt(end - 1) == '/') {
            end--;
        }
        return queue.substring(Math.max(queue.lastIndexOf('/', end - 1), queue.lastIndexOf(':', end - 1)) + 1, end);
    }

    /**
     * Reads the address in a listener's configuration. If a URL names another server than AWS, this server is ignored:
     * the SQS client sends its requests to the endpoint in its own configuration.
     *
     * @param queue a name, URL or ARN
     */
    public static QueueAddress configured(String queue) {
        Arn arn = arn(queue);
        if (arn != null) {
            return new QueueAddress(
                    arn.resourceAsString(),
                    arn.accountId().orElse(null),
                    arn.region().orElse(null),
                    Set.of());
        }
        QueueAddress address = ofUrl(queue);
        return address.servers.contains(AWS)
                ? address
                : new QueueAddress(address.name, address.account, address.region, Set.of());
    }

    /** Returns the address that a queue's URL contains. */
    public static QueueAddress ofUrl(String url) {
        URI uri = uri(url);
        if (uri == null) {
            return new QueueAddress(name(url), null, null, Set.of());
        }
        Matcher path = PATH.matcher(uri.getPath());
        String host = uri.getHost().toLowerCase(Locale.ROOT);
        Matcher region = REGION.matcher(host);
        boolean isAws = AWS_HOST.matcher(host).matches();
        return new QueueAddress(
                name(url),
                path.matches() ? path.group("account") : null,
                !isAws ? null : region.find() ? region.group(1) : host.equals(FIRST_HOST) ? FIRST_REGION : null,
                Set.of(isAws ? AWS : server(uri)));
    }

    /** Returns the address of a queue, from its URL, its ARN and its client's endpoint. */
    public static QueueAddress of(SqsQueue queue) {
        QueueAddress url = ofUrl(queue.queueUrl());
        Optional<Arn> arn = Optional.ofNullable(arn(queue.attributes().text(QueueAttributeName.QUEUE_ARN)));
        Set<String> servers = new TreeSet<>(url.servers);
        if (!servers.contains(AWS)) {
            ClientAbilities.configuration(queue.client())
                    .flatMap(client -> client.endpointOverride())
                    .ifPresent(endpoint -> servers.add(server(endpoint)));
        }
        return new QueueAddress(
                url.name,
                arn.flatMap(Arn::accountId).orElse(url.account),
                arn.flatMap(Arn::region).orElse(url.region),
                servers);
    }

    /**
     * Parses an ARN of SQS; {@code null} for any other text. The SDK's parser throws for some texts that begin like an
     * ARN.
     */
    private static @Nullable Arn arn(String text) {
        try {
            return Arn.tryFromString(text)
                    .filter(arn -> arn.service().equals("sqs"))
                    .orElse(null);
        } catch (IllegalArgumentException malformed) {
            return null;
        }
    }

    /** Returns whether the other address certainly means another queue. Returns false if too little is known. */
    public boolean differsFrom(QueueAddress other) {
        return !name.equals(other.name)
                || isOther(account, other.account)
                || isOther(region, other.region)
                || (!servers.isEmpty() && !other.servers.isEmpty() && Collections.disjoint(servers, other.servers));
    }

    private static boolean isOther(@Nullable String one, @Nullable String other) {
        return one != null && other != null && !one.equals(other);
    }

    private static @Nullable URI uri(String url) {
        try {
            URI uri = new URI(url);
            return uri.getHost() == null || uri.getPath() == null ? null : uri;
        } catch (URISyntaxException name) {
            return null;
        }
    }

    /** Returns host and port of a server. All names of this machine become {@code localhost}. */
    private static String server(URI uri) {
        String host = uri.getHost().toLowerCase(Locale.ROOT);
        int usual = "https".equalsIgnoreCase(uri.getScheme()) ? HTTPS_PORT : HTTP_PORT;
        return (isThisMachine(host) ? "localhost" : host) + ":" + (uri.getPort() < 0 ? usual : uri.getPort());
    }

    private static boolean isThisMachine(String host) {
        try {
            return InetAddress.getByName(host).isLoopbackAddress();
        } catch (UnknownHostException unknown) {
            return false;
        }
    }
}
