package io.exactlyonce.dynamodb.autoconfigure;

import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.context.properties.EnableConfigurationProperties;

/**
 * Reads the table's properties wherever this module is. Where claims are kept elsewhere, as in tests or in another profile, they are
 * of no use; but they are no mistake, and stop no start.
 */
@AutoConfiguration
@EnableConfigurationProperties(DynamoDbClaimProperties.class)
public final class DynamoDbClaimsPropertiesAutoConfiguration {}
