package io.exactlyonce.primary;

import java.util.Arrays;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * What a JDBC URL says.
 *
 * @param value the URL, maybe with secrets among its parameters
 */
record JdbcUrl(String value) {

    /** Of each host. A password may have an {@code @}. */
    private static final Pattern CREDENTIALS = Pattern.compile("(?<=//|,)[^/,]*@");

    /** Where Oracle's driver has them. */
    private static final Pattern USER_AND_PASSWORD = Pattern.compile("(?<=:)[^:/@]+/[^@]*@");

    /** Drivers of other databases begin them with a semicolon. */
    private static final Pattern PARAMETERS = Pattern.compile("[?;]");

    private static final String TARGET_SERVER_TYPE = "targetServerType=";

    /** The driver's other values accept a replica, at least when no primary answers. */
    private static final Set<String> PRIMARY_ONLY = Set.of("primary", "master");

    /** Returns the URL without credentials and parameters, for messages. */
    String withoutSecrets() {
        String oracle = USER_AND_PASSWORD.matcher(withoutParameters()).replaceFirst("");
        return CREDENTIALS.matcher(oracle).replaceAll("");
    }

    /** Returns hosts, ports and database, without credentials and parameters. */
    String target() {
        return withoutSecrets().replaceFirst("^jdbc:([\\w:-]*//|\\w+:)", "");
    }

    /** Returns whether the URL names several hosts, so that the driver chooses among them. */
    boolean namesSeveralHosts() {
        return withoutParameters().contains(",");
    }

    /** Returns the value of {@code targetServerType} with which the driver may choose a replica among several hosts. */
    Optional<String> permittedReplicas() {
        return namesSeveralHosts() ? targetServerType().filter(type -> !PRIMARY_ONLY.contains(type)) : Optional.empty();
    }

    /** The last one counts, as for the driver. */
    private Optional<String> targetServerType() {
        return Arrays.stream(value.substring(withoutParameters().length()).split("[?&]"))
                .filter(parameter -> parameter.startsWith(TARGET_SERVER_TYPE))
                .map(parameter -> parameter.substring(TARGET_SERVER_TYPE.length()))
                .reduce((first, second) -> second);
    }

    private String withoutParameters() {
        return PARAMETERS.split(value, 2)[0];
    }

    @Override
    public String toString() {
        return withoutSecrets();
    }
}
