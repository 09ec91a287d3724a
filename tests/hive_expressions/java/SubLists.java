package org.apache.hadoop.hive.ql.exec;

import java.util.List;
import org.apache.hive.com.esotericsoftware.kryo.Kryo;
import org.apache.hive.com.esotericsoftware.kryo.Serializer;
import org.apache.hive.com.esotericsoftware.kryo.io.Input;
import org.apache.hive.com.esotericsoftware.kryo.io.Output;

/** Stands in the place of a class of Hive 3.1 that does not load on Java 9 and later; expressions do not use it. */
class SerializationUtilities$ArrayListSubListSerializer extends Serializer<List<?>> {
  @Override
  public List<?> read(Kryo kryo, Input input, Class<List<?>> type) {
    throw new UnsupportedOperationException();
  }

  @Override
  public void write(Kryo kryo, Output output, List<?> list) {
    throw new UnsupportedOperationException();
  }
}
