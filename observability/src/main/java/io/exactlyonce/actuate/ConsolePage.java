package io.exactlyonce.actuate;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Base64;

/**
 * The console's HTML page and its Content-Security-Policy header. The policy contains hashes of the page's script and
 * style, so browsers run no others. The page can send requests only to its own server.
 */
final class ConsolePage {

    private static final String RESOURCE = "console.html";

    /**
     * Forbids other pages to show the console in a frame. Browsers ignore this in a {@code <meta>} element, so only the
     * HTTP header contains it.
     */
    private static final String HEADER_ONLY = "; frame-ancestors 'none'";

    private static final ConsolePage PAGE = read();

    private final String html;
    private final String policy;

    private ConsolePage(String html) {
        this.html = html;
        this.policy =
                "default-src 'none'; script-src '%s'; style-src '%s'; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'"
                        .formatted(hash(html, "script"), hash(html, "style"));
    }

    /**
     * Returns the page.
     *
     * @param api the relative URL of the endpoint {@code exactlyonce}
     * @param mayWrite whether the endpoint lets callers release or complete parked keys; if not, the page has no
     *     buttons for this
     */
    static String html(String api, boolean mayWrite) {
        return PAGE.html
                .replace("{api}", escaped(api))
                .replace("{write}", String.valueOf(mayWrite))
                .replace("{policy}", PAGE.policy);
    }

    /** Returns the value of the header {@code Content-Security-Policy}. */
    static String contentSecurityPolicy() {
        return PAGE.policy + HEADER_ONLY;
    }

    private static ConsolePage read() {
        try (InputStream resource = ConsolePage.class.getResourceAsStream(RESOURCE)) {
            if (resource == null) {
                throw new IllegalStateException("%s is missing beside %s; repair the jar of exactly-once-observability"
                        .formatted(RESOURCE, ConsolePage.class.getName()));
            }
            return new ConsolePage(new String(resource.readAllBytes(), StandardCharsets.UTF_8));
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    private static String hash(String html, String element) {
        String start = "<" + element + ">";
        String content = html.substring(html.indexOf(start) + start.length(), html.indexOf("</" + element + ">"));
        try {
            byte[] digest = MessageDigest.getInstance("SHA-256").digest(content.getBytes(StandardCharsets.UTF_8));
            return "sha256-" + Base64.getEncoder().encodeToString(digest);
        } catch (NoSuchAlgorithmException impossible) {
            throw new IllegalStateException("Each JDK has SHA-256", impossible);
        }
    }

    private static String escaped(String text) {
        return text.replace("&", "&amp;").replace("\"", "&quot;").replace("<", "&lt;");
    }
}
