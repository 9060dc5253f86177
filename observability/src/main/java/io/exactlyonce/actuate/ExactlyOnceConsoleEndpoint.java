package io.exactlyonce.actuate;

import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.springframework.boot.actuate.endpoint.Access;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.web.annotation.WebEndpoint;

/**
 * {@code /actuator/exactlyonceconsole}: a web page for operators on top of the endpoint {@code exactlyonce}. The page
 * has no access rights of its own. It sends its reader's requests to that endpoint.
 */
@WebEndpoint(id = "exactlyonceconsole", defaultAccess = Access.READ_ONLY)
public final class ExactlyOnceConsoleEndpoint {

    private final Supplier<String> api;
    private final BooleanSupplier mayWrite;

    /**
     * Creates the endpoint. Each request calls both arguments, because other endpoints are found after this bean is
     * created.
     *
     * @param api returns the URL of the endpoint {@code exactlyonce}, relative to the page
     * @param mayWrite returns whether that endpoint accepts decisions
     */
    public ExactlyOnceConsoleEndpoint(Supplier<String> api, BooleanSupplier mayWrite) {
        this.api = api;
        this.mayWrite = mayWrite;
    }

    /** Returns the page, which contains only ASCII characters. */
    @ReadOperation(produces = "text/html;charset=UTF-8")
    public String page() {
        return ConsolePage.html(api.get(), mayWrite.getAsBoolean());
    }

    /** Returns the page's value of the header {@code Content-Security-Policy}. */
    public static String contentSecurityPolicy() {
        return ConsolePage.contentSecurityPolicy();
    }
}
