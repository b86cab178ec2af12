/// How much a host keeps for strangers and clients before it refuses, forgets or drops.
///
/// | limit | at the limit |
/// | --- | --- |
/// | ``links`` | further connection requests fail with ``Failure/limitReached`` |
/// | ``pendingPeers``, ``pendingPeersOfClient`` | as above |
/// | ``queuedFrames`` | a packet for the link is dropped, with a note |
/// | ``queuedCommands`` | what a client wants of the controller fails with ``Failure/limitReached``, with a note |
/// | ``advertisers`` | the peers that were not seen for longest are forgotten |
/// | ``knownPeers`` | the one without a bond that was of use longest ago is forgotten; if all have one, none is added |
/// | ``unattendedBonds`` | of these bonds the one that was of use longest ago gives way, with a note |
/// | ``bondsWithoutUser`` | one of those gives way; without one, the peer is told that it is not bonded, with a note |
/// | ``introducedPeers`` | a new client is not told of those that were met before |
/// | ``peerServices`` | nobody finds a connected peer by a further service |
/// | ``waitingReports`` | the oldest report is delivered without waiting for its scan response |
/// | ``partialReports`` | the oldest half of an advertisement is dropped, with a note |
/// | ``queuedRequests`` | the request fails with ``Failure/limitReached`` |
/// | ``queuedWriteCommands`` | the write command is dropped, with a note |
/// | ``peerRequests`` | the request is dropped, with a note |
/// | ``queuedIndications`` | the indication is dropped, with a note |
/// | ``gatheredValues`` | those that wait are sent |
/// | ``preparedParts`` | the part is refused as "prepare queue full" |
/// | ``enhancedBearers`` | further ones are refused for lack of resources |
/// | ``channelMTU`` | the channel is closed |
/// | ``channelPacket`` | the channel is closed |
/// | ``channelCredits`` | the peer is given no credits until some is consumed |
/// | ``queuedChannelOctets`` | the channel is closed with ``Failure/limitReached`` |
/// | ``discoveredAttributes`` | the discovery fails with ``Failure/limitReached``, and what was found is forgotten |
/// | ``cachedAttributes`` | nothing is kept of the peer's database when it goes |
/// | ``attributeLength`` | longer values are refused |
package struct Limits: Equatable, Sendable {
    /// Links at a time, in whichever role.
    package var links = 32
    /// Peers that clients wait to be connected to or are, each counted for each client.
    package var pendingPeers = 1024
    /// Peers that one client waits to be connected to or is, so that others find room.
    package var pendingPeersOfClient = 256
    /// L2CAP packets that wait on one link for a buffer of the controller.
    package var queuedFrames = 1024
    /// HCI commands that wait for their turn.
    package var queuedCommands = 256
    /// Peers seen on the air of which a host knows the address and the name.
    ///
    /// Of half of them it also knows what they said last, while somebody scans. By calculation all of it comes to less
    /// than 20 MB: 12 MB for 96 octets and a name of each of 16 384 advertisers, which are the most that is kept, and
    /// 5 MB for the addresses. A machine with more memory keeps more (``init(memory:)``).
    package var advertisers = 32_768
    /// Peers that a client was connected to or wanted to be, in memory and in storage.
    package var knownPeers = 1024
    /// Peers that are bonded although neither the user nor an app wanted that; at most half of ``knownPeers``.
    package var unattendedBonds = 128
    /// Peers that are bonded without the user, those included; at most three quarters of ``knownPeers``, so that there
    /// is room for those that the user pairs with.
    package var bondsWithoutUser = 768
    /// Peers of which a new client is told because they were seen on the air.
    package var introducedPeers = 1024
    /// Types of services of one peer that are kept over links.
    package var peerServices = 256
    /// Advertisements that wait for their scan response.
    package var waitingReports = 256
    /// Extended advertisements of which parts are missing.
    package var partialReports = 16
    /// Requests of one client to one peer that wait for their turn.
    package var queuedRequests = 512
    /// Write commands of one client to one peer that wait for its earlier requests.
    package var queuedWriteCommands = 1024
    /// Requests of one peer that wait while an app answers an earlier one.
    package var peerRequests = 64
    /// Indications of one client that wait on one link for the confirmation of another.
    package var queuedIndications = 64
    /// Values that wait on one link to be notified together.
    package var gatheredValues = 64
    /// Parts of values that one peer may prepare before it executes them.
    package var preparedParts = 128
    /// Enhanced ATT bearers of one link.
    package var enhancedBearers = 5
    /// The largest SDU that this host takes on a channel, in octets, 64 to 65535.
    package var channelMTU = 4096
    /// The largest packet that it takes and sends on a channel, in octets, 64 to 65533: what fills a packet on the air.
    package var channelPacket = 247
    /// Packets that wait on a channel to be consumed, or may come at any time, 1 to 65535.
    package var channelCredits = 64
    /// Octets that a client may have waiting on one channel.
    package var queuedChannelOctets = 1 << 20
    /// Attributes of one peer that a link knows of.
    package var discoveredAttributes = 16_384
    /// Attributes of one bonded peer that are kept over links.
    package var cachedAttributes = 2048
    /// Octets of one attribute value.
    package var attributeLength = 512

    package init() {}
}
