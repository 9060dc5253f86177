package io.exactlyonce.primary;

import java.util.regex.Pattern;

/**
 * What a JDBC URL tells.
 *
 * @param value the URL, maybe with secrets among its parameters
 */
record JdbcUrl(String value) {

    private static final Pattern CREDENTIALS = Pattern.compile("//[^/@]*@");

    /** Returns the URL without credentials and parameters, for messages. */
    String withoutSecrets() {
        return CREDENTIALS.matcher(withoutParameters()).replaceFirst("//");
    }

    /** Tells whether the URL names several hosts, so that the driver chooses among them. */
    boolean namesSeveralHosts() {
        return withoutParameters().contains(",");
    }

    private String withoutParameters() {
        int parameters = value.indexOf('?');
        return parameters < 0 ? value : value.substring(0, parameters);
    }

    @Override
    public String toString() {
        return withoutSecrets();
    }
}
