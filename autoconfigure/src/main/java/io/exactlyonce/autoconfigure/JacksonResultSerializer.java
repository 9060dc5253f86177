package io.exactlyonce.autoconfigure;

import io.exactlyonce.delivery.LimitedResults;
import io.exactlyonce.delivery.ResultReader;
import io.exactlyonce.delivery.ResultWriter;
import java.lang.reflect.Type;
import org.jspecify.annotations.Nullable;
import org.springframework.util.unit.DataSize;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.jsontype.BasicPolymorphicTypeValidator;

/**
 * Results as JSON, written and read by the application's mapper; except that no class is ever chosen by its name in the
 * stored text, whatever the mapper allows elsewhere.
 */
final class JacksonResultSerializer implements ResultWriter, ResultReader {

    private final JsonMapper mapper;
    private final ResultWriter writer;

    JacksonResultSerializer(JsonMapper mapper, DataSize maxSize) {
        this.mapper = mapper.rebuild()
                .deactivateDefaultTyping()
                .polymorphicTypeValidator(
                        BasicPolymorphicTypeValidator.builder().build())
                .build();
        this.writer = new LimitedResults(this.mapper::writeValueAsString, maxSize.toBytes());
    }

    @Override
    public String toJson(Object result) {
        return writer.toJson(result);
    }

    @Override
    public @Nullable Object fromJson(String json, Type type) {
        return mapper.readValue(json, mapper.constructType(type));
    }
}
