package io.exactlyonce.actuate;

import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.springframework.boot.actuate.endpoint.Access;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.web.annotation.WebEndpoint;

/**
 * {@code /actuator/exactlyonceconsole}: a page for operators, which shows and changes what the endpoint {@code
 * exactlyonce} does. The page has no access of its own: it sends its reader's requests to that endpoint.
 */
@WebEndpoint(id = "exactlyonceconsole", defaultAccess = Access.READ_ONLY)
public final class ExactlyOnceConsoleEndpoint {

    private final Supplier<String> api;
    private final BooleanSupplier mayWrite;

    /**
     * Creates the endpoint. Both arguments are called for each request, because other endpoints are found after this bean.
     *
     * @param api returns the URL of the endpoint {@code exactlyonce}, relative to the page
     * @param mayWrite returns whether that endpoint takes decisions
     */
    public ExactlyOnceConsoleEndpoint(Supplier<String> api, BooleanSupplier mayWrite) {
        this.api = api;
        this.mayWrite = mayWrite;
    }

    /** Returns the page, which has ASCII characters only. */
    @ReadOperation(produces = "text/html;charset=UTF-8")
    public String page() {
        return ConsolePage.html(api.get(), mayWrite.getAsBoolean());
    }

    /** Returns the value of the header {@code Content-Security-Policy} of the page. */
    public static String contentSecurityPolicy() {
        return ConsolePage.contentSecurityPolicy();
    }
}
