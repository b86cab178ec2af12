/// Every type of packet there is, a list for each protocol.
enum EveryPacket {}
